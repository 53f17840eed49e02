import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFile,
  mkdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { packageBounds } from './limits-table.ts'
import { manifestBytes } from './manifest.ts'
import { blobPath, checkBlobs, checkWholePackage, openPackage, placesIn } from './open-package.ts'
import { createOperatorKey, signBytes } from './operator-key.ts'
import { smallPackage, type SmallPackage } from './testing/small-package.ts'

const { signal } = new AbortController()

async function verify({ directory, key }: SmallPackage): Promise<void> {
  const opened = await openPackage(placesIn(directory), key.publicKey)
  await checkWholePackage(opened, directory, signal)
}

test('a package that nobody has changed is whole, and its digest is that of its manifest', async () => {
  await using made = await smallPackage()
  await verify(made)
  const opened = await openPackage(placesIn(made.directory), made.key.publicKey)
  assert.deepEqual(opened.manifest, made.manifest)
  assert.equal(opened.digest, made.digest)
})

const layerOf = ({ directory, manifest }: SmallPackage): string => {
  const layer = manifest.images[0]?.blobs[0]
  assert.ok(layer)
  return blobPath(placesIn(directory), layer)
}

async function replaceOne(path: string, from: string, to: string): Promise<void> {
  const text = await readFile(path, 'latin1')
  assert.ok(text.includes(from))
  await writeFile(path, text.replace(from, to), 'latin1')
}

const tampered: readonly [string, (made: SmallPackage) => Promise<unknown>, RegExp][] = [
  [
    'a manifest with another version',
    ({ directory }) => replaceOne(join(directory, 'manifest.json'), '0.2.0', '0.3.0'),
    /has not signed it/,
  ],
  [
    'a manifest with one byte more',
    ({ directory }) => appendFile(join(directory, 'manifest.json'), '\n'),
    /has not signed it/,
  ],
  [
    'a signature of something else',
    ({ directory, key }) =>
      writeFile(join(directory, 'manifest.sig'), signBytes(Buffer.from('x'), key.privateKey)),
    /has not signed it/,
  ],
  [
    'no signature',
    ({ directory }) => writeFile(join(directory, 'manifest.sig'), ''),
    /has not signed it/,
  ],
  [
    'a signature that is missing',
    ({ directory }) => rm(join(directory, 'manifest.sig')),
    /manifest\.sig: ENOENT/,
  ],
  [
    'an endless signature',
    ({ directory }) => writeFile(join(directory, 'manifest.sig'), 'A'.repeat(5_000)),
    /more than 1024 bytes/,
  ],
  [
    'a manifest without end',
    ({ directory }) =>
      truncate(join(directory, 'manifest.json'), packageBounds.manifestBytesMax + 1),
    /more than \d+ bytes/,
  ],
  ['a file with other content', (made) => writeFile(layerOf(made), 'LAYER'), /content differs/],
  ['a file that is cut off', (made) => truncate(layerOf(made), 2), /fewer than its 5 bytes/],
  ['a file that is longer', (made) => appendFile(layerOf(made), 'x'), /more than its 5 bytes/],
  ['a file that is huge', (made) => truncate(layerOf(made), 1e12), /more than its 5 bytes/],
  ['a file that is gone', (made) => rm(layerOf(made)), /ENOENT/],
  [
    'one file more',
    ({ directory }) => writeFile(join(directory, 'blobs/sha256', 'f'.repeat(64)), ''),
    /does not belong to it/,
  ],
  [
    'a file beside the others',
    ({ directory }) => writeFile(join(directory, 'install.sh'), ''),
    /install\.sh" does not belong/,
  ],
  [
    'a directory beside the blobs',
    ({ directory }) => mkdir(join(directory, 'blobs/md5')),
    /does not belong/,
  ],
  [
    'a link in place of a file',
    async (made) => {
      await rename(layerOf(made), join(made.scratch, 'elsewhere'))
      await symlink(join(made.scratch, 'elsewhere'), layerOf(made))
    },
    /Cannot use .*ELOOP/,
  ],
  [
    'a link in place of the manifest',
    async ({ directory, scratch }) => {
      await rename(join(directory, 'manifest.json'), join(scratch, 'elsewhere'))
      await symlink(join(scratch, 'elsewhere'), join(directory, 'manifest.json'))
    },
    /ELOOP/,
  ],
  [
    'a device in place of a file',
    async (made) => {
      await rm(layerOf(made))
      await symlink('/dev/zero', layerOf(made))
    },
    /ELOOP/,
  ],
  [
    'a pipe in place of a file',
    async (made) => {
      await rm(layerOf(made))
      execFileSync('mkfifo', [layerOf(made)])
    },
    /not a regular file/,
  ],
]
for (const [what, tamper, message] of tampered) {
  test(`${what} is found and named`, async () => {
    await using made = await smallPackage()
    await tamper(made)
    await assert.rejects(verify(made), (error) => {
      assert.ok(error instanceof ExpectedError, String(error))
      assert.match(error.message, message)
      return true
    })
  })
}

test('the key of somebody else, an RSA key and a private key open nothing', async () => {
  await using made = await smallPackage()
  const places = placesIn(made.directory)
  await assert.rejects(openPackage(places, createOperatorKey().publicKey), /has not signed it/)
  for (const wrong of ['', 'x', made.key.privateKey, rsaKey]) {
    await assert.rejects(openPackage(places, wrong), /is not an Ed25519 public key/)
  }
})

const rsaKey = `-----BEGIN PUBLIC KEY-----
MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf
9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit+CqvjWYzvQwECAwEAAQ==
-----END PUBLIC KEY-----
`

test('an older package of the same key opens: which one is meant is decided by its digest', async () => {
  await using made = await smallPackage('0.1.0')
  await verify(made)
})

type Path = readonly (string | number)[]

/** Puts a value into a manifest; undefined removes the field. */
function put(manifest: object, path: Path, value: unknown): void {
  const last = path.at(-1) ?? ''
  // Tests put odd values wherever they like.
  const at = path.slice(0, -1).reduce((node, key) => node[key] as Node, manifest as Node)
  if (value === undefined) delete at[last]
  else at[last] = value
}

interface Node {
  [key: string | number]: unknown
}

/** Signs a manifest with the right key that no program of ours would write. */
async function resigned(made: SmallPackage, path: Path, value: unknown): Promise<void> {
  const manifest = structuredClone(made.manifest)
  put(manifest, path, value)
  const bytes = manifestBytes(manifest)
  await writeFile(join(made.directory, 'manifest.json'), bytes)
  await writeFile(join(made.directory, 'manifest.sig'), signBytes(bytes, made.key.privateKey))
}

/** Values that a careless program would use as a path, or hand to a shell. */
const oddTexts = [
  '../../etc/cron.d/x',
  '/etc/passwd',
  'a b',
  '$(reboot)',
  'a;reboot',
  '-o',
  '',
  'a\nb',
  '`id`',
]

const places: readonly [string, Path][] = [
  ['the version of the program', ['programs', 0, 'version']],
  ['the version of the engine', ['programs', 0, 'engine', 'version']],
  ['the digest of a file', ['programs', 0, 'content', 'sha256']],
  ['the architecture', ['programs', 0, 'architecture']],
  ['the form', ['programs', 0, 'form']],
  ['the name of a release', ['releases', 0, 'name']],
  ['the name of a package', ['releases', 0, 'debs', 0, 'name']],
  ['the version of a package', ['releases', 0, 'debs', 0, 'version']],
  ['the architecture of a package', ['releases', 0, 'debs', 0, 'architecture']],
  ['the name of an image', ['images', 0, 'references', 0]],
  ['the digest of a layer', ['images', 0, 'blobs', 0, 'sha256']],
]
for (const [place, path] of places) {
  test(`${place} cannot be a path or a command, even if the right key has signed it`, async () => {
    for (const text of oddTexts) {
      await using made = await smallPackage()
      await resigned(made, path, text)
      await assert.rejects(verify(made), /its manifest is wrong/, text)
    }
  })
}

const lengths: readonly [string, unknown][] = [
  ['a negative length', -1],
  ['half a byte', 0.5],
  ['more than a file may have', packageBounds.blobBytesMax + 1],
  ['a length in words', '5'],
  ['no length', null],
]
for (const [what, bytes] of lengths) {
  test(`${what} is refused`, async () => {
    await using made = await smallPackage()
    await resigned(made, ['images', 0, 'blobs', 0, 'bytes'], bytes)
    await assert.rejects(verify(made), /its manifest is wrong/)
  })
}

test('a length that is declared too long or too short is found before the file is read to its end', async () => {
  for (const bytes of [4, 6]) {
    await using made = await smallPackage()
    await resigned(made, ['images', 0, 'blobs', 0, 'bytes'], bytes)
    const opened = await openPackage(placesIn(made.directory), made.key.publicKey)
    const blobs = opened.manifest.images[0]?.blobs ?? []
    await assert.rejects(checkBlobs(opened, blobs, signal), /than its \d bytes/)
  }
})

const anyDeb = {
  name: 'runc',
  version: '1',
  architecture: 'all',
  file: { sha256: '0'.repeat(64), bytes: 1 },
}
const shapes: readonly [string, Path, unknown][] = [
  ['another kind', ['kind'], 'Package'],
  ['a newer schema', ['schemaVersion'], 3],
  ['a field that nobody knows', ['path'], '/etc'],
  ['a bundle without an engine', ['programs', 0, 'engine'], undefined],
  ['an executable with an engine', ['programs', 0, 'form'], 'executable'],
  ['an image without a name', ['images', 0, 'references'], []],
  [
    'too many packages',
    ['releases', 0, 'debs'],
    Array.from({ length: packageBounds.debsOfReleaseMax + 1 }, () => anyDeb),
  ],
]
for (const [what, path, value] of shapes) {
  test(`a manifest with ${what} is refused`, async () => {
    await using made = await smallPackage()
    await resigned(made, path, value)
    await assert.rejects(verify(made), /its manifest is wrong/)
  })
}
