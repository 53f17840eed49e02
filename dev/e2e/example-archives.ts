import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { keptDirectory, makeOnce } from '@skerry/testing'
import { buildImages } from '../../examples/build-images.ts'

const root = join(import.meta.dirname, '../..')

/** The sources of the archives; a change in one of them rebuilds them. */
const sources = [
  'examples/build-images.ts',
  'examples/guestbook/page.cgi',
  'testing/images/oci-image.ts',
]

/** A directory with the archives of the examples' images, built once per machine and version. */
export function exampleArchives(): Promise<string> {
  return builtOnce('skerry-e2e-images', sources, buildImages)
}

/** Returns the directory that `build` has filled, once on this machine, from just these files of the project. */
export async function builtOnce(
  name: string,
  madeFrom: readonly string[],
  build: (directory: string) => Promise<unknown>,
): Promise<string> {
  const hash = createHash('sha256')
  for (const source of madeFrom) hash.update(await readFile(join(root, source)))
  const directory = keptDirectory(`${name}-${hash.digest('hex').slice(0, 12)}`)
  await makeOnce(
    directory,
    () => isPresent(directory),
    async () => {
      const part = await mkdtemp(`${directory}-part-`)
      try {
        await build(part)
        await rename(part, directory)
      } catch (error) {
        await rm(part, { recursive: true, force: true })
        throw error
      }
    },
  )
  return directory
}

async function isPresent(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
