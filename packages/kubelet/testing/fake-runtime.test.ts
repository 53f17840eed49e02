import { systemClock } from '@skerry/base'
import type { ContainerConfig } from '../cri/container-runtime.ts'
import { FakeRuntime } from './fake-runtime.ts'
import { runtimeContract } from './runtime-contract.ts'

/** Ends as the shell would: `exit 3` at once, and everything else when it is stopped. */
function shell({ command }: ContainerConfig): { afterMs: number; exitCode: number } | undefined {
  const [, code] = /^exit (\d+)$/.exec(command[2] ?? '') ?? []
  return code === undefined ? undefined : { afterMs: 0, exitCode: Number(code) }
}

const image = 'busybox:test'
const runtime = new FakeRuntime({ clock: systemClock, program: shell, images: [image] })

runtimeContract('the fake', () => ({ runtime, image, logDirectory: '', cgroupParent: '/skerry' }))
