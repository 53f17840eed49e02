import { execFile } from 'node:child_process'
import { readFile, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import { clearNodeNetwork } from '@skerry/service-proxy'
import { codeOf } from './data-directory.ts'
import { runDown } from './down.ts'
import { readSettings } from './find-installation.ts'
import { addressOf } from './host-addresses.ts'
import { installationAt, type UpSettings } from './installation.ts'
import { stopContainers } from './stop-containers.ts'

const execute = promisify(execFile)

/** Where containerd keeps what CNI plugins answered; it cannot be told another place. */
const cniCacheDirectories = ['/var/lib/cni/results', '/var/lib/cni']

export interface ResetOptions {
  dataDir: string
  isConfirmed: boolean
}

/** Takes everything away that `up` has brought: processes, pods, mounts, network, state. */
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
  await runDown({ dataDir: options.dataDir, stopsPods: false }, signal)
  await stopContainers(installation, signal)
  for (const directory of [options.dataDir, settings.runDir]) await unmountBelow(directory)
  await clearNetwork(settings)
  await removeCgroups(settings.nodeName)
  for (const directory of cniCacheDirectories) await removeEmpty(directory)
  for (const directory of [options.dataDir, settings.runDir])
    await rm(directory, { recursive: true, force: true })
}

/** Deepest first: a mount below another must go before it. */
async function unmountBelow(directory: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((path) =>
      path.replaceAll(/\\(\d{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      ),
    )
    .filter((path) => path === directory || path.startsWith(`${directory}/`))
  for (const path of mounts.toReversed()) await execute('umount', ['--lazy', path])
}

async function clearNetwork({ serviceCidr }: UpSettings): Promise<void> {
  await clearNodeNetwork({ dnsAddress: addressOf(serviceCidr, 10) })
  // Not there after a node that never had a pod: then there is nothing to delete.
  await execute('ip', ['link', 'delete', 'skerry0']).catch(() => undefined)
}

/** Cgroups are directories that only rmdir removes, from the leaves up, in every hierarchy. */
async function removeCgroups(nodeName: string): Promise<void> {
  const roots = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([, path = '', type = '']) => (type === 'cgroup' || type === 'cgroup2' ? [path] : []))
  for (const root of roots) {
    await removeTree(join(root, 'skerry', nodeName))
    await removeEmpty(join(root, 'skerry'))
  }
}

/** Only directories, and only empty ones; files stay and keep what is above them. */
async function removeTree(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  })
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(path, entry.name))
  await removeEmpty(path)
}

async function removeEmpty(path: string): Promise<void> {
  try {
    await rmdir(path)
  } catch (error) {
    // ENOTEMPTY, EBUSY: another node of this machine still has something there.
    if (!['ENOENT', 'ENOTEMPTY', 'EBUSY'].includes(codeOf(error) ?? '')) throw error
  }
}
