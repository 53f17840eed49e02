import { execFile } from 'node:child_process'
import { readFile, readdir, realpath, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import { detachMounts, endNodeProcesses, removeWithMounts } from '@skerry/kubelet'
import { clearNodeNetwork } from '@skerry/service-proxy'
import { containerdSocket } from '../node/node-containerd.ts'
import { codeOf, writeFileDurably } from '../runtime/data-directory.ts'
import { addressOf } from '../runtime/host-addresses.ts'
import { runDown } from './down.ts'
import { readSettings } from './find-installation.ts'
import { installationAt, type Installation, type UpSettings } from './installation.ts'
import { stopContainers } from './stop-containers.ts'
import { upBounds } from './limits-table.ts'
import { exists, namesIn } from '../runtime/files.ts'

const execute = promisify(execFile)

/** The directories in which containerd keeps the results of CNI plugins; they cannot be configured. */
const cniCacheDirectories = ['/var/lib/cni/results', '/var/lib/cni']

const podBridge = 'skerry0'

export interface ResetOptions {
  dataDir: string
  isConfirmed: boolean
  /** Called before each step: tests end the process there. */
  onStep?: (step: string) => void
}

interface ResetScope {
  installation: Installation
  settings: UpSettings
  signal: AbortSignal
}

/** The order matters: first what runs, then what it holds, then its files. Each step is idempotent. */
const steps: readonly [name: string, act: (scope: ResetScope) => Promise<void>][] = [
  ['hub, site and node', stopRoles],
  ['pods', ({ installation, signal }) => stopContainers(installation, signal)],
  ['processes of pods', endProcesses],
  ['mounts', detachAll],
  ['network', ({ settings }) => clearNetwork(settings)],
  ['cgroups', ({ settings, signal }) => removeCgroups(settings.nodeName, signal)],
  ['cache of network plugins', removeCniCache],
  ['run directory', ({ settings }) => removeTree(settings.runDir)],
  ['data directory', ({ installation }) => removeData(installation)],
]

export const resetSteps: readonly string[] = steps.map(([name]) => name)

/**
 * Removes everything that `up` created: processes, pods, mounts, network, state. A failed step does not stop
 * the others; it is named at the end. The next reset finishes an interrupted one.
 */
export async function runReset(options: ResetOptions, signal: AbortSignal): Promise<void> {
  if (!options.isConfirmed) {
    throw new ExpectedError(
      `Cannot reset without --yes: it removes ${options.dataDir} with every cluster, volume and image in it`,
      exitCodes.usage,
    )
  }
  const settings = await readSettings(options.dataDir)
  if (settings === undefined) {
    throw new ExpectedError(
      `Cannot reset: ${options.dataDir} holds no installation; nothing was removed`,
      exitCodes.dataDirectory,
    )
  }
  const installation = installationAt(options.dataDir, settings.runDir)
  const scope: ResetScope = { installation, settings, signal }
  const failures = new Map<string, string>()
  const attempt = async (name: string, act: (scope: ResetScope) => Promise<void>) => {
    try {
      await act(scope)
    } catch (error) {
      signal.throwIfAborted()
      failures.set(name, error instanceof Error ? (error.message.split('\n')[0] ?? '') : '')
    }
  }
  // A full disk takes no mark, and needs the reset all the more.
  await attempt('mark', () => writeFileDurably(installation.resetMark, ''))
  for (const [name, act] of steps) {
    options.onStep?.(name)
    await attempt(name, act)
  }
  await nameWhatStays(scope, failures)
}

/** Leaves out a failed step whose work another step has done. */
async function nameWhatStays(
  { installation, settings }: ResetScope,
  failures: ReadonlyMap<string, string>,
): Promise<void> {
  const { dataDir } = installation
  const present = [
    ...((await namesIn(dataDir)).length > 0 ? [dataDir] : []),
    ...((await exists(settings.runDir)) ? [settings.runDir] : []),
  ]
  const bridge = (await hasLink(podBridge)) ? [`network interface ${podBridge}`] : []
  const stays = [...present, ...bridge]
  const ofMachine = ['hub, site and node', 'processes of pods', 'cgroups']
  const failed = [...failures].filter(([name]) => stays.length > 0 || ofMachine.includes(name))
  if (stays.length + failed.length === 0) return
  const reasons = failed.map(([name, message]) => `${name}: ${message}`)
  throw new ExpectedError(
    `Cannot take everything away: ${[...stays.map((one) => `${one} stays`), ...reasons].join('; ')}; run "skerry reset --yes" again, after a reboot at the latest`,
    exitCodes.failure,
  )
}

async function stopRoles({ installation, signal }: ResetScope): Promise<void> {
  await runDown({ dataDir: installation.dataDir, stopsPods: false }, signal)
}

/** Ends processes that containerd could not end, or has forgotten. */
async function endProcesses({ settings }: ResetScope): Promise<void> {
  await endNodeProcesses({
    cgroup: `/skerry/${settings.nodeName}`,
    socket: containerdSocket(join(settings.runDir, 'node')),
  })
}

async function detachAll({ installation, settings }: ResetScope): Promise<void> {
  // Mounts beneath others' mounts are removed with their directories. The data may have a disk of the machine's own, or
  // be linked to one: the kernel lists mounts by their real paths.
  const dataDir = await realpath(installation.dataDir)
  await detachMounts(dataDir, { keepsOwn: await isDisk(dataDir) })
  await detachMounts(settings.runDir)
}

async function isDisk(path: string): Promise<boolean> {
  const [own, parent] = [await stat(path), await stat(dirname(path))]
  return own.dev !== parent.dev
}

async function removeCniCache(): Promise<void> {
  for (const directory of cniCacheDirectories) await removeEmpty(directory)
}

async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    // There is a mount, beneath another program's mount that covers it.
    if (codeOf(error) !== 'EBUSY') throw error
    await removeWithMounts(path)
  }
}

/** Removes the files that a second reset needs last. */
async function removeData(installation: Installation): Promise<void> {
  const { dataDir, settingsFile, resetMark, formatFile } = installation
  const last = [formatFile, resetMark, settingsFile]
  for (const name of await readdir(dataDir)) {
    if (!last.includes(join(dataDir, name))) await removeTree(join(dataDir, name))
  }
  for (const path of last) await rm(path, { force: true })
  if (await isDisk(dataDir)) return
  await removeTree(dataDir)
}

async function clearNetwork({ serviceCidr }: UpSettings): Promise<void> {
  await clearNodeNetwork({ dnsAddress: addressOf(serviceCidr, 10) })
  // The runtime may have forgotten pods whose links still exist.
  for (const port of await portsOf(podBridge)) await deleteLink(port)
  await deleteLink(podBridge)
}

async function deleteLink(name: string): Promise<void> {
  await execute('ip', ['link', 'delete', name]).catch(async (error: unknown) => {
    // A node that never had a pod has no bridge, and a cable ends with either of its ends.
    if (await hasLink(name)) throw error
  })
}

async function portsOf(bridge: string): Promise<string[]> {
  if (!(await hasLink(bridge))) return []
  const { stdout } = await execute('ip', ['-json', 'link', 'show', 'master', bridge])
  // These are iproute2's own field names; the name is checked.
  const links = JSON.parse(stdout === '' ? '[]' : stdout) as { ifname?: string }[]
  return links.flatMap(({ ifname }) => ifname ?? [])
}

async function hasLink(name: string): Promise<boolean> {
  try {
    await execute('ip', ['link', 'show', name])
    return true
  } catch (error) {
    // The program ip(8) exits with 1 if the kernel refuses, which here means that there is no such link.
    if (error instanceof Error && 'code' in error && error.code === 1) return false
    throw error
  }
}

const { cgroupWaitMs, cgroupTries } = upBounds.reset

/** Removes cgroups: directories that only rmdir removes, from the leaves up, in every hierarchy. */
async function removeCgroups(nodeName: string, signal: AbortSignal): Promise<void> {
  const roots = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([, path = '', type = '']) => (type === 'cgroup' || type === 'cgroup2' ? [path] : []))
  for (const root of roots) {
    const path = join(root, 'skerry', nodeName)
    // A process that was killed is in its group until it is gone.
    for (let tries = 0; tries < cgroupTries && !(await removeGroups(path)); tries++)
      await systemClock.sleep(cgroupWaitMs, signal)
    if (await exists(path)) throw new Error(`processes run in ${path}`)
    await removeEmpty(join(root, 'skerry'))
  }
}

/** Removes only directories, and only empty ones. Resolves true if it is gone. */
async function removeGroups(path: string): Promise<boolean> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  })
  for (const entry of entries) if (entry.isDirectory()) await removeGroups(join(path, entry.name))
  await removeEmpty(path)
  return !(await exists(path))
}

async function removeEmpty(path: string): Promise<void> {
  try {
    await rmdir(path)
  } catch (error) {
    // ENOTEMPTY and EBUSY mean that another node of this machine still uses it.
    if (!['ENOENT', 'ENOTEMPTY', 'EBUSY'].includes(codeOf(error) ?? '')) throw error
  }
}
