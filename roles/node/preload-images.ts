import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { asError } from '@skerry/base'
import { importImage, type ImportOptions } from '@skerry/kubelet'
import { readFileIfPresent, writeFileDurably } from '@skerry/bootstrap'
import type { RoleContext } from '../runtime/role-context.ts'

/**
 * Imports every archive of the directory that was not imported in its present state. A damaged archive is
 * logged and does not keep the node from starting.
 */
export async function importPreloaded(
  directory: string,
  target: ImportOptions,
  { log, signal }: RoleContext,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 })
  for (const name of (await readdir(directory)).toSorted()) {
    if (!/\.(tar|tar\.gz|tgz)$/.test(name)) continue
    const path = join(directory, name)
    // The mark is next to the images themselves, so that wiping them also wipes the mark.
    const mark = join(target.rootDirectory, `preloaded-${name}`)
    const { size, mtimeMs } = await stat(path)
    const version = `${size} ${mtimeMs}`
    if ((await readFileIfPresent(mark)) === version) continue
    try {
      const images = await importImage(path, target, signal)
      await writeFileDurably(mark, version, 0o644)
      log.info('Images imported', { archive: name, images: images.join(',') })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      log.error('Archive not imported', {
        archive: path,
        error: asError(error),
      })
    }
  }
}
