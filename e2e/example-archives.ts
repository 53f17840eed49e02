import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildImages } from '../examples/build-images.ts'

const root = join(import.meta.dirname, '..')

/** What the archives are made from; a change in one of them makes them anew. */
const sources = [
  'examples/build-images.ts',
  'examples/guestbook/page.cgi',
  'packages/testing/images/oci-image.ts',
]

/** A directory with the archives of the examples' images, built once per machine and version. */
export async function exampleArchives(): Promise<string> {
  const hash = createHash('sha256')
  for (const source of sources) hash.update(await readFile(join(root, source)))
  const directory = join(tmpdir(), `skerry-e2e-images-${hash.digest('hex').slice(0, 12)}`)
  if (await isPresent(directory)) return directory
  const part = await mkdtemp(join(tmpdir(), 'skerry-e2e-images-part-'))
  await buildImages(part)
  try {
    await rename(part, directory)
  } catch (error) {
    // Another run finished first: its archives are as good.
    if (!(await isPresent(directory))) throw error
    await rm(part, { recursive: true })
  }
  return directory
}

async function isPresent(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
