import { join } from 'node:path'
import type { BlobRef } from '@skerry/offline-package'
import { packagePath } from '../../program/package-paths.ts'
import { machineBounds } from '../limits-table.ts'
import { fetchFile, NotThereError, type PackageServer } from './fetch-file.ts'

const { namedMax } = machineBounds.fetchAll

/** A file of the package, and the name by which people know it. */
export interface NamedFile {
  readonly name: string
  readonly file: BlobRef
}

/**
 * Fetches the files. Resolves with the names of those that the server has not: a site has only what its own machine
 * needed, and this machine may not need the rest either.
 */
export async function fetchAll(
  files: readonly NamedFile[],
  {
    from,
    digest,
    directory,
    print,
  }: {
    readonly from: PackageServer
    readonly digest: string
    /** The directory of files by digest. */
    readonly directory: string
    readonly print: (line: string) => void
  },
): Promise<string[]> {
  print(`fetching ${files.length} files, ${megabytes(bytesOf(files))}, from ${from.server}`)
  const absent = new Set<string>()
  for (const { name, file } of files) {
    const path = packagePath(digest, { type: 'file', sha256: file.sha256 })
    try {
      await fetchFile(path, { file, target: join(directory, file.sha256) }, from)
    } catch (error) {
      if (!(error instanceof NotThereError)) throw error
      absent.add(name)
    }
  }
  const names = [...absent]
  if (names.length > 0) print(absentText(names, from.server))
  return names
}

/** Says which files the server has not kept, and how it gets them. */
export function absentText(names: readonly string[], server: string): string {
  const shown = names.slice(0, namedMax).join(', ')
  const more = names.length > namedMax ? ` and ${names.length - namedMax} others` : ''
  return `${server} has not kept ${shown}${more} of the package; start it with --package and the directory of the whole package`
}

export function bytesOf(files: readonly NamedFile[]): number {
  return files.reduce((sum, { file }) => sum + file.bytes, 0)
}

export function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MB`
}
