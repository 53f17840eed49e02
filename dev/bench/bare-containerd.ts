import { mkdir } from 'node:fs/promises'
import type { ContainerRuntime } from '@skerry/kubelet'
import { benchImage } from './measure/example-pod.ts'

const namespaceOptions = { network: 'POD', pid: 'CONTAINER', ipc: 'POD' } as const
const hiddenPaths = ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware']

type SandboxConfig = Parameters<ContainerRuntime['runPodSandbox']>[0]

/**
 * Milliseconds that containerd alone takes for the sandbox and container of an example pod: asked
 * over the same interface, on the same socket, with the same network plugins.
 */
export async function startBare(
  runtime: ContainerRuntime,
  { name, logDirectory }: { name: string; logDirectory: string },
  signal: AbortSignal,
): Promise<number> {
  await mkdir(logDirectory, { recursive: true })
  const sandboxConfig = sandboxOf(name, logDirectory)
  const startMs = performance.now()
  const sandbox = await runtime.runPodSandbox(sandboxConfig, '', signal)
  const container = await runtime.createContainer(
    { podSandboxId: sandbox, sandboxConfig, config: containerConfig() },
    signal,
  )
  await runtime.startContainer(container, signal)
  const tookMs = performance.now() - startMs
  await runtime.stopContainer(container, 0, signal)
  await runtime.stopPodSandbox(sandbox, signal)
  await runtime.removePodSandbox(sandbox, signal)
  return tookMs
}

function sandboxOf(name: string, logDirectory: string): SandboxConfig {
  return {
    metadata: { name, uid: name, namespace: 'default', attempt: 0 },
    hostname: name,
    logDirectory,
    portMappings: [],
    labels: {},
    annotations: {},
    linux: {
      cgroupParent: '/skerry-bench',
      securityContext: { namespaceOptions, privileged: false },
      sysctls: {},
    },
  }
}

function containerConfig(): Parameters<ContainerRuntime['createContainer']>[0]['config'] {
  return {
    metadata: { name: 'main', attempt: 0 },
    image: { image: benchImage },
    command: [],
    args: [],
    workingDir: '',
    envs: [],
    mounts: [],
    devices: [],
    cdiDevices: [],
    labels: {},
    annotations: {},
    logPath: 'main.log',
    stdin: false,
    stdinOnce: false,
    tty: false,
    linux: {
      resources: { cpuShares: 2, memoryLimitInBytes: 64 * 1024 * 1024 },
      securityContext: {
        privileged: false,
        namespaceOptions,
        readonlyRootfs: false,
        supplementalGroups: [],
        noNewPrivs: false,
        maskedPaths: hiddenPaths,
        readonlyPaths: ['/proc/sys'],
      },
    },
  }
}
