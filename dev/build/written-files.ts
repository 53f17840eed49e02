import { randomBytes } from 'node:crypto'
import { readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { OutputFile } from 'esbuild'

export type WrittenFile = Pick<OutputFile, 'path' | 'contents'>

/** How long files of earlier bundles are kept, for programs and pages that run from them and load late. */
const oldFileMs = 30 * 24 * 3_600_000

/** Dates the file to the start of the build, so that a source that is saved during the build is newer. */
export async function replaceFile({ path, contents }: WrittenFile, dateMs: number): Promise<void> {
  const next = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
  await writeFile(next, contents)
  await utimes(next, dateMs / 1_000, dateMs / 1_000)
  await rename(next, path)
}

/** Another launcher may make the same bundle at the same time, and rename or remove its files. */
export async function removeOldFiles(
  directory: string,
  current: ReadonlySet<string>,
  nowMs: number,
): Promise<void> {
  for (const name of await readdir(directory)) {
    if (current.has(name)) continue
    const path = join(directory, name)
    const found = await stat(path).catch(() => undefined)
    if (found && nowMs - found.mtimeMs > oldFileMs) await rm(path, { force: true })
  }
}
