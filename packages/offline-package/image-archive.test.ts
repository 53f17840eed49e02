import assert from 'node:assert/strict'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { createGzip } from 'node:zlib'
import { layerOfFiles, writeOciArchive } from '@skerry/testing'
import tarStream from 'tar-stream'
import { addImageArchive, assembleLayout } from './image-archive.ts'
import type { PackagedImage } from './manifest.ts'
import { placesIn } from './open-package.ts'
import { createOperatorKey } from './operator-key.ts'
import { PackageWriter } from './write-package.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const blobName = `blobs/sha256/${'0'.repeat(64)}`

async function inScratch(act: (scratch: string) => Promise<void>): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-image-archive-'))
  try {
    await act(scratch)
  } finally {
    await rm(scratch, { recursive: true })
  }
}

async function packaged(scratch: string, archives: readonly string[]): Promise<PackagedImage[]> {
  await using writer = await PackageWriter.create(join(scratch, 'package'))
  const images: PackagedImage[] = []
  for (const path of archives) images.push(await addImageArchive(writer, path, soon()))
  const manifest = { kind: 'SkerryOfflinePackage', schemaVersion: 1, programs: [], releases: [] }
  // The two constants of the manifest are those of its type.
  await writer.finish({ ...manifest, images } as never, createOperatorKey().privateKey)
  return images
}

async function imageAt(path: string, version: string): Promise<void> {
  const base = await layerOfFiles([{ path: 'base', content: 'shared' }])
  const app = await layerOfFiles([{ path: 'app', content: version }])
  await writeOciArchive(path, {
    reference: `docker.io/library/app:${version}`,
    layers: [base, app],
    config: {},
    architecture: 'arm64',
  })
}

test('a layout is taken apart and put together again, the same, and versions share their layers', async () => {
  await inScratch(async (scratch) => {
    const archives = [join(scratch, 'v1.tar'), join(scratch, 'v2.tar')]
    await imageAt(archives[0] ?? '', 'v1')
    await imageAt(archives[1] ?? '', 'v2')
    const images = await packaged(scratch, archives)
    assert.deepEqual(images[0]?.references, ['docker.io/library/app:v1'])
    assert.deepEqual(images[0]?.architectures, ['aarch64'])
    const sums = images.map(({ blobs }) => new Set(blobs.map(({ sha256 }) => sha256)))
    assert.equal(sums[0]?.intersection(sums[1] ?? new Set()).size, 1)
    const again = join(scratch, 'again.tar')
    const [first] = images
    assert.ok(first)
    for (let times = 0; times < 2; times++) {
      const stream = await assembleLayout(placesIn(join(scratch, 'package')), first)
      await pipeline(stream, createWriteStream(again))
      await rm(join(scratch, 'second'), { recursive: true, force: true })
      assert.deepEqual(await filesIn(again), await filesIn(archives[0] ?? ''))
    }
  })
})

async function filesIn(path: string): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  const extract = tarStream.extract()
  createReadStream(path).pipe(extract)
  for await (const entry of extract) {
    const pieces = await Array.fromAsync(entry as AsyncIterable<Buffer>)
    files.set(entry.header.name, Buffer.concat(pieces).toString('base64'))
  }
  return new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

test('an archive may be compressed', async () => {
  await inScratch(async (scratch) => {
    const path = join(scratch, 'v1.tar')
    await imageAt(path, 'v1')
    await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}.gz`))
    const [image] = await packaged(scratch, [`${path}.gz`])
    assert.deepEqual([image?.form, image?.blobs.length], ['oci', 4])
  })
})

async function tarOf(path: string, entries: Readonly<Record<string, string>>): Promise<void> {
  const pack = tarStream.pack()
  for (const [name, content] of Object.entries(entries)) pack.entry({ name }, content)
  pack.finalize()
  await pipeline(pack, createWriteStream(path))
}

test('an archive of docker save stays as it is', async () => {
  await inScratch(async (scratch) => {
    const path = join(scratch, 'saved.tar')
    const manifest = [{ Config: 'c.json', RepoTags: ['shop/app:1.4'], Layers: [] }]
    await tarOf(path, { 'c.json': '{}', 'manifest.json': JSON.stringify(manifest) })
    const [image] = await packaged(scratch, [path])
    assert.ok(image)
    assert.deepEqual([image.form, image.references], ['docker', ['shop/app:1.4']])
    const kept = join(placesIn(join(scratch, 'package')).blobs, image.content.sha256)
    assert.deepEqual(await readFile(kept), await readFile(path))
  })
})

const wrong: readonly [string, Readonly<Record<string, string>>, RegExp][] = [
  ['no image', { readme: 'x' }, /no index\.json, manifest\.json/],
  ['no name', { 'index.json': '{"manifests":[{}]}' }, /no image in it has a full name/],
  ['a damaged layer', { [`blobs/sha256/${'0'.repeat(64)}`]: 'x' }, /is damaged/],
  ['an index that is not JSON', { 'index.json': '{' }, /Cannot add image archive/],
  ['an endless index', { 'index.json': ' '.repeat(2_000_000) }, /its index is too long/],
]
for (const [what, entries, message] of wrong) {
  test(`an archive with ${what} is refused`, async () => {
    await inScratch(async (scratch) => {
      const path = join(scratch, 'wrong.tar')
      await tarOf(path, entries)
      await assert.rejects(packaged(scratch, [path]), message)
    })
  })
}

test('a file that is not an archive, and a tar that is cut off, are refused', async () => {
  await inScratch(async (scratch) => {
    const path = join(scratch, 'v1.tar')
    await imageAt(path, 'v1')
    const whole = await readFile(path)
    for (const content of [Buffer.from('hello'), whole.subarray(0, 700), Buffer.alloc(0)]) {
      await writeFile(path, content)
      await assert.rejects(packaged(scratch, [path]), /Cannot add image archive/)
    }
  })
})

type EntryHeader = Partial<tarStream.Header> & { readonly name: string }

/** Headers of a tar file: what an archive calls itself is all that a reader knows before its content. */
const hostileEntries: readonly [string, readonly EntryHeader[]][] = [
  ['a symbolic link to a file of the machine', [linkTo('symlink', '/etc/passwd')]],
  ['a hard link to a file of the machine', [linkTo('link', '/etc/passwd')]],
  ['a device', [{ name: blobName, type: 'character-device', devmajor: 1, devminor: 5 }]],
  ['a pipe', [{ name: blobName, type: 'fifo' }]],
  ['a path out of the package', [{ name: `../../${blobName}`, type: 'file', size: 0 }]],
]

function linkTo(type: 'symlink' | 'link', linkname: string): EntryHeader {
  return { name: blobName, type, linkname }
}

for (const [what, headers] of hostileEntries) {
  test(`${what} in an archive becomes no file of the package`, async () => {
    await inScratch(async (scratch) => {
      const path = join(scratch, 'hostile.tar')
      const pack = tarStream.pack()
      for (const header of headers) pack.entry(header, '')
      const annotations = { 'io.containerd.image.name': 'docker.io/library/app:v1' }
      pack.entry({ name: 'index.json' }, JSON.stringify({ manifests: [{ annotations }] }))
      pack.finalize()
      await pipeline(pack, createWriteStream(path))
      const [image] = await packaged(scratch, [path])
      assert.deepEqual(image?.blobs, [])
      const names = await readdir(placesIn(join(scratch, 'package')).blobs)
      assert.deepEqual(names, [image?.content.sha256])
    })
  })
}

test('a header that declares gigabytes is refused before they are read', async () => {
  await inScratch(async (scratch) => {
    const before = process.memoryUsage().rss
    for (const type of ['x', 'g', 'L', 'K']) {
      const path = join(scratch, `${type}.tar`)
      const zeros = Array.from({ length: 16 }, () => Buffer.alloc(1024 * 1024))
      await pipeline(
        [longHeader(type, 8 * 1024 ** 3), ...zeros],
        createGzip(),
        createWriteStream(path),
      )
      await mkdir(join(scratch, type))
      await assert.rejects(packaged(join(scratch, type), [path]), /Cannot add image archive/)
    }
    assert.ok(process.memoryUsage().rss - before < 256 * 1024 * 1024)
  })
})

/** A header of POSIX.1-1988 with the type of one that extends the next. */
function longHeader(type: string, size: number): Buffer {
  const header = Buffer.alloc(512)
  header.write('long', 0)
  header.write('0000644\0', 100)
  // Sizes of 8 GB and more do not fit into twelve octal digits, and are binary.
  header[124] = 0x80
  header.writeBigUInt64BE(BigInt(size), 128)
  header.write('        ', 148)
  header.write(type, 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
