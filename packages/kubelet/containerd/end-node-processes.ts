import type { ContainerRuntime } from '../cri/container-runtime.ts'
import { detectCgroups, killCgroup } from './cgroups.ts'
import { findProcesses } from './find-processes.ts'
import { hasCode } from '../system-error.ts'

export interface NodeProcesses {
  /** The cgroup that all of the node's pods are below. */
  cgroup: string
  /** The socket of the node's containerd, which each shim of its was given. */
  socket: string
}

/**
 * Ends shims of sandboxes that containerd has forgotten, for example after it lost its metadata. No other
 * program ends them.
 */
export async function endForgottenShims(
  runtime: Pick<ContainerRuntime, 'listPodSandboxes' | 'listContainers'>,
  socket: string,
  signal: AbortSignal,
): Promise<void> {
  // Shims are read first, so that the lists contain every one that was created since.
  const shims = await shimsOf(socket)
  const sandboxes = await runtime.listPodSandboxes(signal)
  const containers = await runtime.listContainers(signal)
  const known = new Set([...sandboxes, ...containers].map(({ id }) => id))
  for (const { pid, id } of shims) if (!known.has(id)) kill(pid)
}

/** Kills what a stopped containerd has left running: shims, and all processes of pods. */
export async function endNodeProcesses({ cgroup, socket }: NodeProcesses): Promise<void> {
  // Shims are killed first: nothing receives their reports of the other deaths.
  for (const { pid } of await shimsOf(socket)) kill(pid)
  await killCgroup(await detectCgroups(), cgroup)
}

/** Lists shims, which outlive containerd; their command line names the socket of the one that started them. */
async function shimsOf(socket: string): Promise<{ pid: number; id: string }[]> {
  const shims = await findProcesses(
    ([program = '', ...args]) =>
      program.endsWith('/containerd-shim-runc-v2') && valueOf(args, '-address') === socket,
  )
  return shims.map(({ pid, words }) => ({ pid, id: valueOf(words, '-id') ?? '' }))
}

function valueOf(args: readonly string[], flag: string): string | undefined {
  const index = args.indexOf(flag)
  return index < 0 ? undefined : args[index + 1]
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error
  }
}
