import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import { writeFileDurably } from '../runtime/data-directory.ts'
import { installationAt, type UpSettings } from '../up/installation.ts'
import { findMissingPrograms, installPrograms, packagesOf } from '../up/system-packages.ts'
import { kernelModules, machineFiles } from './machine-files.ts'
import { programUsersOf, type MachinePlan } from './machine-plan.ts'

const execute = promisify(execFile)

export const machineDataDirectory = '/var/lib/skerry'
const runDirectory = '/run/skerry'

/**
 * Makes this machine ready for its roles: system packages, kernel modules and switches for every boot, units. Things
 * that are there already are left as they are; nothing is started. `print` gets a line for each thing that is done.
 * The file has further settings of apt.
 */
export async function prepareMachine(
  plan: MachinePlan,
  print: (line: string) => void,
  signal: AbortSignal,
  aptConfigFile?: string,
): Promise<void> {
  requireRoot()
  const isWitness = plan.role === 'Witness'
  if (!isWitness) await recordSettings(plan)
  const missing = await findMissingPrograms(programUsersOf(plan))
  if (missing.length > 0 && plan.isOffline) {
    const names = missing.map(({ program }) => program).join(', ')
    const text = `Cannot prepare this machine: its offline package has brought no ${names}; make the package again`
    throw new ExpectedError(text, exitCodes.missingDependency)
  }
  if (missing.length > 0) {
    print(`installing ${packagesOf(missing).join(' ')}`)
    const apt = aptConfigFile === undefined ? {} : { configFile: aptConfigFile }
    await installPrograms(missing, signal, apt)
  }
  for (const { path, content, mode } of machineFiles(plan)) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
    await chmod(path, mode)
    print(path)
  }
  await execute('systemctl', ['daemon-reload'])
  if (isWitness) return
  for (const name of kernelModules) await loadModule(name, print)
}

export function requireRoot(): void {
  if (process.getuid?.() === 0) return
  const text = 'Cannot prepare this machine: only root may; run the command with sudo'
  throw new ExpectedError(text, exitCodes.usage)
}

/** Kept first: a machine on which this broke off can be cleaned. */
async function recordSettings(plan: MachinePlan): Promise<void> {
  await mkdir(machineDataDirectory, { recursive: true, mode: 0o711 })
  const { settingsFile } = installationAt(machineDataDirectory, runDirectory)
  await writeFileDurably(settingsFile, JSON.stringify(settingsOf(plan)))
}

function settingsOf(plan: MachinePlan): UpSettings {
  const { clusterName, nodeName, podCIDR, serviceCIDR, apiPort } = plan
  return {
    clusterName,
    nodeName,
    hubPort: 0,
    sitePort: apiPort,
    kubeletPort: 10_250,
    clusterCidr: podCIDR,
    serviceCidr: serviceCIDR,
    runDir: runDirectory,
  }
}

/** A module that is part of the kernel itself cannot be loaded and need not be. */
async function loadModule(name: string, print: (line: string) => void): Promise<void> {
  try {
    await execute('modprobe', [name])
  } catch {
    // The node reports what is really missing; the preflight has looked for it, too.
    print(`module ${name} was not loaded: it may be part of the kernel`)
  }
}
