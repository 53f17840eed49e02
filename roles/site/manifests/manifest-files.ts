import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { siteBounds } from '../limits-table.ts'

const { filesMax, depthMax, bytesMax } = siteBounds.manifests

/** A file with manifests, by its path below the directory. */
export interface ManifestFile {
  readonly name: string
  /** Changes with the content. */
  readonly stamp: string
  /** True: what it holds is left as it is, because `<name>.skip` is there. */
  readonly isSkipped: boolean
}

/** Lists the files whose names end like YAML or JSON, in order. Hidden ones are left out. Rejects if the directory is gone. */
export async function listManifestFiles(directory: string): Promise<ManifestFile[]> {
  const names: string[] = []
  const skipped = new Set<string>()
  const look = async (below: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(directory, below), { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue
      const name = join(below, entry.name)
      if (entry.isDirectory()) {
        if (depth < depthMax) await look(name, depth + 1)
      } else if (name.endsWith('.skip')) skipped.add(name.slice(0, -'.skip'.length))
      else if (/\.(?:ya?ml|json)$/.test(name)) names.push(name)
      if (names.length > filesMax) {
        const text = `Cannot apply ${directory}: it has more than ${filesMax} files`
        throw new ExpectedError(text, exitCodes.usage)
      }
    }
  }
  await look('', 0)
  const files: ManifestFile[] = []
  for (const name of names.toSorted()) {
    const found = await stat(join(directory, name)).catch(() => undefined)
    // It has just gone, or leads nowhere.
    if (found?.isFile() !== true) continue
    const { mtimeMs, ctimeMs, size, ino } = found
    const stamp = [mtimeMs, ctimeMs, size, ino].join(' ')
    files.push({ name, stamp, isSkipped: skipped.has(name) })
  }
  return files
}

/** Rejects with an ExpectedError that names the file if it is too large, or if others than its owner may write it. */
export async function readManifestFile(directory: string, name: string): Promise<string> {
  const path = join(directory, name)
  const { mode, size, uid } = await stat(path)
  const wrong = (why: string): ExpectedError =>
    new ExpectedError(`Cannot apply ${path}: ${why}`, exitCodes.usage)
  if ((mode & 0o022) !== 0) {
    throw wrong('others than its owner may write it; run chmod go-w on it')
  }
  if (uid !== 0 && uid !== process.getuid?.()) throw wrong(`it belongs to the user ${uid}`)
  if (size > bytesMax) throw wrong(`it has ${size} bytes, and may have ${bytesMax}`)
  return readFile(path, 'utf8')
}
