import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd, type CommandResult } from '@skerry/testing'
import { defaultCache } from '../upstream/build-upstream.ts'

export interface ClientTarget {
  /** The kubeconfig of an administrator. */
  readonly kubeconfig: string
  /** A directory with kube-apiserver and etcd, as envtest wants it. */
  readonly envtest: string
}

export interface ClientResult {
  readonly name: string
  readonly version: string
  readonly passed: number
  /** One line for each check that failed. */
  readonly failed: readonly string[]
}

/** One program or library of another project. */
export interface ClientPlan {
  readonly name: string
  /** Whether the client starts the API server itself, with `envtest`. */
  readonly startsServer?: boolean
  /** Fetches and builds missing parts. */
  readonly prepare: () => Promise<void>
  readonly run: (target: ClientTarget) => Promise<ClientResult>
}

/** A client that needs running pods: it starts its own cluster, with a node. Needs root. */
export interface SessionPlan extends Omit<ClientPlan, 'run'> {
  readonly runOnNode: (way: { isThroughHub: boolean }) => Promise<ClientResult>
}

/** The directory for fetched sources and built programs; never committed. */
export const clientsCache = join(defaultCache, 'clients')

/** Copies a folder next to this file to the cache, where its build may write. */
export async function workingCopy(name: string): Promise<string> {
  const directory = join(clientsCache, name)
  await mkdir(directory, { recursive: true })
  await cp(join(import.meta.dirname, name), directory, { recursive: true })
  return directory
}

export interface CommandOptions {
  readonly directory?: string
  readonly env?: Record<string, string>
  readonly timeoutMs?: number
}

/** Runs in a directory and ignores the exit code. */
export function runIn(
  command: readonly string[],
  { directory = '/', env = {}, timeoutMs = 600_000 }: CommandOptions = {},
): Promise<CommandResult> {
  const inDirectory = ['sh', '-c', 'cd "$0" && exec "$@"', directory, ...command]
  return runToEnd(inDirectory, { env, timeoutMs })
}

/** Throws with the command's own words unless it ends well. */
export async function mustRun(
  command: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const { exitCode, stdout, stderr } = await runIn(command, { timeoutMs: 1_800_000, ...options })
  if (exitCode === 0) return stdout
  throw new Error(`Cannot run ${command.join(' ')}: exit code ${exitCode}\n${stderr}${stdout}`)
}

/** Parses the output of programs that print `ok <name>` and `FAIL <name>: <why>`. */
export function readChecks({ stdout, stderr, exitCode }: CommandResult): {
  passed: number
  failed: string[]
} {
  const lines = stdout.split('\n')
  const failed = lines.filter((line) => line.startsWith('FAIL '))
  const passed = lines.filter((line) => line.startsWith('ok ')).length
  if (exitCode !== 0 && failed.length === 0) {
    failed.push(`it ended with ${exitCode}: ${stderr.trim().split('\n').at(-1) ?? ''}`)
  }
  return { passed, failed }
}
