import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { moduleDirectory } from '../upstream/go-program.ts'

/** A file of a repository, which Go's module proxy has although it may hold no program. */
export interface PublishedFile {
  readonly module: string
  readonly version: string
  readonly path: string
}

/** Returns a file as it was published. */
export function publishedFile({ module, version, path }: PublishedFile): Promise<string> {
  return readFile(join(moduleDirectory(module, version), path), 'utf8')
}

/** Returns the first example in a page of documentation that contains this part, as it stands there. */
export function exampleIn(page: string, part: string): string {
  const blocks = [...page.matchAll(/^```ya?ml\n(.*?)^```/gms)].map(([, block = '']) => block)
  const found = blocks.find((block) => block.includes(part))
  if (found === undefined) throw new Error(`Cannot find "${part}" in an example of the page`)
  return found
}
