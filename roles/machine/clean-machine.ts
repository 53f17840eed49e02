import { execFile } from 'node:child_process'
import { rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import { takeBackFilesScript } from '@skerry/provisioning'
import { codeOf } from '../runtime/data-directory.ts'
import { readSettings } from '../up/find-installation.ts'
import { runReset } from '../up/reset.ts'
import { allMachineFiles, unitPath } from './machine-files.ts'
import { machineDataDirectory } from './prepare-machine.ts'
import { exists, namesIn, removeDirectory } from '../runtime/files.ts'

const execute = promisify(execFile)

// The address leaves first, so that no client meets a site that goes.
const roles = ['virtual-ip', 'node', 'site', 'witness', 'agent', 'hub']

/**
 * Removes everything of Skerry from this machine: units, pods, network, state, settings, and last the program that
 * does it. System packages stay. Things that were removed before are passed over, so it can be run again.
 */
export async function cleanMachine(
  { isConfirmed }: { readonly isConfirmed: boolean },
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (!isConfirmed) {
    const text = `Cannot clean this machine without --yes: it removes its cluster with every pod and volume in ${machineDataDirectory}`
    throw new ExpectedError(text, exitCodes.usage)
  }
  for (const role of roles) await stopUnit(`skerry-${role}.service`, unitPath(role), print)
  // The record of these files goes with the data directory.
  const { stdout } = await execute('sh', ['-c', takeBackFilesScript])
  for (const line of stdout.split('\n').filter((each) => each !== '')) print(line)
  if ((await readSettings(machineDataDirectory)) !== undefined) {
    await runReset({ dataDir: machineDataDirectory, isConfirmed: true, onStep: print }, signal)
  }
  for (const { path } of allMachineFiles()) await rm(path, { force: true })
  await execute('systemctl', ['daemon-reload'])
  // systemd remembers a unit that ended with an error, such as a site that lost its quorum as the other masters went.
  await execute('systemctl', ['reset-failed', 'skerry*'])
  await removeAll(['/run/skerry'])
  // Either may be a link or a disk of the machine's own, of which nothing of ours may be left.
  for (const path of ['/etc/skerry', machineDataDirectory]) await removeDirectory(path)
  const caches = await namesIn('/var/cache')
  await removeAll(
    caches.filter((name) => name.startsWith('skerry-')).map((name) => join('/var/cache', name)),
  )
  // A running program's files stay until it ends, wherever their names are.
  await removeAll(['/usr/local/lib/skerry'])
  await unlink('/usr/local/bin/skerry').catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
  })
  print('clean')
}

async function stopUnit(unit: string, path: string, print: (line: string) => void): Promise<void> {
  if (!(await exists(path))) return
  print(`stopping ${unit}`)
  await execute('systemctl', ['disable', '--now', '--quiet', unit])
}

async function removeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true })
}
