import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { createTestNetwork } from '@skerry/testing'
import type { Place } from '../measure/agent-fleet.ts'

/** The figures of both sides, by their names. */
export interface MeasuredServices {
  readonly ours: Readonly<Record<string, number>>
  readonly peer?: Readonly<Record<string, number>>
}

/** Returns the path of kube-proxy, or undefined if it is not built. */
export async function findKubeProxy(upstream: string): Promise<string | undefined> {
  const path = resolve(upstream, 'kube-proxy')
  try {
    await access(path)
    return path
  } catch {
    console.error(
      'Left out: kube-proxy is not built; run node_modules/.bin/node dev/hack/upstream/upstream.ts build kube-proxy once',
    )
    return undefined
  }
}

/** Measures the rules of services on a host with a network of its own, which has no route out. */
export async function measureServices(
  { program, directory }: Place,
  kubeProxy: string | undefined,
): Promise<MeasuredServices> {
  if (process.getuid?.() !== 0) {
    const text = 'Cannot measure: a host with rules of its own needs root; run it with sudo'
    throw new ExpectedError(text, exitCodes.missingRight)
  }
  await using network = await createTestNetwork()
  const host = await network.addHost(1)
  const script = join(import.meta.dirname, 'services-in-host.ts')
  const flags = ['--disable-warning=ExperimentalWarning']
  const args = [program, directory, host.address, ...(kubeProxy ? [kubeProxy] : [])]
  const { exitCode, stdout, stderr } = await host.run(
    [process.execPath, ...flags, script, ...args],
    { timeoutMs: 240_000 },
  )
  if (exitCode !== 0) throw new Error(`Cannot measure: exit code ${exitCode}: ${stderr}`)
  // services-in-host.ts prints this type.
  return JSON.parse(stdout) as MeasuredServices
}
