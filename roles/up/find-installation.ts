import { readFile } from 'node:fs/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { codeOf } from '../runtime/data-directory.ts'
import { installationAt, type Installation, type UpSettings } from './installation.ts'

/** Finds the settings that `skerry up` recorded, by its data directory. */
export async function findInstallation(
  dataDir: string,
): Promise<{ installation: Installation; settings: UpSettings }> {
  const settings = await readSettings(dataDir)
  if (settings === undefined) {
    throw new ExpectedError(
      `Cannot find an installation in ${dataDir}; start one with "skerry up", or pass its --data-dir`,
      exitCodes.dataDirectory,
    )
  }
  return { installation: installationAt(dataDir, settings.runDir), settings }
}

export async function readSettings(dataDir: string): Promise<UpSettings | undefined> {
  const text = await readFile(installationAt(dataDir, '').settingsFile, 'utf8').catch(
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    },
  )
  // This program wrote it, completely or not at all.
  return text === undefined ? undefined : (JSON.parse(text) as UpSettings)
}
