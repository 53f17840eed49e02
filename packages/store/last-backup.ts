import { readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '@skerry/base'

/** The newest backup of a store that succeeded. */
export interface LastBackup {
  readonly path: string
  readonly revision: number
  /** An ISO date. */
  readonly time: string
}

/** Remembers it in a file of its own, because the store may be damaged when it is needed. */
export async function rememberBackup(storePath: string, backup: LastBackup): Promise<void> {
  const path = recordPath(storePath)
  const temporary = `${path}.tmp`
  {
    await using file = await open(temporary, 'w', 0o600)
    await file.writeFile(`${JSON.stringify(backup)}\n`)
    await file.sync()
  }
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}

/** Advises what to do about a damaged store, in words that follow a semicolon. */
export function restoreAdvice(storePath: string): string {
  const last = readLastBackup(storePath)
  if (last === undefined) return 'restore a backup'
  const { path, revision, time } = last
  return `restore a backup ("skerry restore ${path}": of ${time}, revision ${revision})`
}

function readLastBackup(storePath: string): LastBackup | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(recordPath(storePath), 'utf8'))
    if (typeof value !== 'object' || value === null) return undefined
    const { path, revision, time } = value as Record<string, unknown>
    if (typeof path !== 'string' || typeof time !== 'string') return undefined
    return typeof revision === 'number' ? { path, revision, time } : undefined
  } catch {
    // Without a record, or with a damaged one, the advice has no name in it.
    return undefined
  }
}

function recordPath(storePath: string): string {
  return `${storePath}.last-backup`
}
