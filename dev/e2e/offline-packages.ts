import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  addImageArchive,
  blobPath,
  blobsOf,
  openUnverified,
  PackageWriter,
  placesIn,
} from '@skerry/offline-package'
import { exampleArchives } from './example-archives.ts'

const execute = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const launcher = join(root, 'skerry')

/** A signed package in a directory. */
export interface BuiltPackage {
  readonly directory: string
  readonly digest: string
  readonly publicKey: string
}

/** Makes the key with which the packages of one test are signed. */
export async function makeOperatorKey(directory: string): Promise<string> {
  const path = join(directory, 'operator')
  await execute(launcher, ['package', 'key', '--output', path])
  return path
}

/** Makes a package for machines of the host's own release, with an image. Downloads are kept for later runs. */
export async function buildPackage(
  name: string,
  image: string,
  {
    directory,
    key,
    more = [],
  }: { readonly directory: string; readonly key: string; readonly more?: readonly string[] },
): Promise<BuiltPackage> {
  const output = join(directory, 'packages', name)
  const { stdout } = await execute(launcher, [
    'package',
    'create',
    `--key=${key}.key`,
    `--output=${output}`,
    `--release=${await hostRelease()}`,
    `--image=${join(await exampleArchives(), image)}`,
    `--cache-dir=${join(root, 'node_modules/.cache/skerry-packages')}`,
    ...more,
  ])
  const publicKey = await readFile(`${key}.pub`, 'utf8')
  return { directory: output, digest: stdout.trim(), publicKey }
}

/** Makes a package that differs from another one in its image only, as an upgrade of an application does. */
export async function packageWithImage(
  name: string,
  image: string,
  from: { readonly first: BuiltPackage; readonly directory: string; readonly key: string },
): Promise<BuiltPackage> {
  const { first, directory, key } = from
  const output = join(directory, 'packages', name)
  const { signal } = new AbortController()
  const places = placesIn(first.directory)
  const { manifest } = await openUnverified(places)
  await using writer = await PackageWriter.create(output)
  const rest = { ...manifest, images: [] }
  for (const blob of blobsOf(rest)) await writer.addFile(blobPath(places, blob), signal)
  const images = [await addImageArchive(writer, join(await exampleArchives(), image), signal)]
  const digest = await writer.finish({ ...rest, images }, await readFile(`${key}.key`, 'utf8'))
  return { directory: output, digest, publicKey: first.publicKey }
}

/** Makes a package that differs from another one in its program only: the same one under another digest. */
export async function packageWithProgram(
  name: string,
  from: { readonly first: BuiltPackage; readonly directory: string; readonly key: string },
): Promise<BuiltPackage> {
  const { first, directory, key } = from
  const output = join(directory, 'packages', name)
  const { signal } = new AbortController()
  const places = placesIn(first.directory)
  const { manifest } = await openUnverified(places)
  await using writer = await PackageWriter.create(output)
  for (const blob of blobsOf(manifest)) await writer.addFile(blobPath(places, blob), signal)
  const programs = await Promise.all(
    manifest.programs.map(async (program) => {
      // A tar file may end with more empty blocks.
      const archive = await readFile(blobPath(places, program.content))
      const content = await writer.addBytes(Buffer.concat([archive, Buffer.alloc(10_240)]))
      return { ...program, content }
    }),
  )
  const unused = manifest.programs.map(({ content }) => blobPath(placesIn(output), content))
  const digest = await writer.finish(
    { ...manifest, programs },
    await readFile(`${key}.key`, 'utf8'),
  )
  for (const path of unused) await rm(path)
  return { directory: output, digest, publicKey: first.publicKey }
}

async function hostRelease(): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8')
  const value = (field: string): string =>
    new RegExp(`^${field}="?([^"\n]*)`, 'm').exec(text)?.[1] ?? ''
  return `${value('ID')}-${value('VERSION_ID')}`
}
