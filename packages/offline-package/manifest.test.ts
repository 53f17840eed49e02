import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOlder, manifestBytes, parseManifest, shareOf } from './manifest.ts'
import { smallPackage } from './testing/small-package.ts'

test('a machine gets the program, the packages and the images that are for it', async () => {
  await using made = await smallPackage()
  const { manifest } = made
  const [image] = manifest.images
  assert.ok(image)
  const images = [image, { ...image, architectures: ['aarch64' as const] }]
  const share = shareOf({ ...manifest, images }, { architecture: 'x86_64', release: 'debian-12' })
  assert.equal(share.program, manifest.programs[0])
  assert.equal(share.release, manifest.releases[0])
  assert.deepEqual(share.images, [image])
})

test('a machine of another system or architecture gets nothing, and the error lists the others', async () => {
  await using made = await smallPackage()
  const cases: readonly [string, string, RegExp][] = [
    ['x86_64', 'debian-13', /no packages for debian-13 on x86_64, only debian-12 on x86_64/],
    ['x86_64', '../debian-12', /no packages for/],
    ['aarch64', 'debian-12', /no program for aarch64, only x86_64/],
    ['__proto__', 'debian-12', /no program for/],
  ]
  for (const [architecture, release, message] of cases) {
    assert.throws(() => shareOf(made.manifest, { architecture, release }), message)
  }
})

test('an etcd is a part of schema 2, for the machines of its architecture', async () => {
  await using made = await smallPackage()
  const debs = made.manifest.releases.flatMap((release) => release.debs)
  const etcd = [{ architecture: 'x86_64' as const, debs }]
  const next = { ...made.manifest, schemaVersion: 2 as const, etcd }
  const read = parseManifest(manifestBytes(next))
  assert.deepEqual(shareOf(read, { architecture: 'x86_64', release: 'debian-12' }).etcd, etcd[0])
  const others = [{ architecture: 'aarch64' as const, debs }]
  const none = shareOf({ ...next, etcd: others }, { architecture: 'x86_64', release: 'debian-12' })
  assert.equal(none.etcd, undefined)
  const wrong = manifestBytes({ ...next, schemaVersion: 1 })
  assert.throws(() => parseManifest(wrong), /schemaVersion 1 has no etcd/)
})

test('versions are compared by their numbers', () => {
  const cases: readonly [string, string, boolean][] = [
    ['0.1.0-a', '0.2.0-a', true],
    ['0.9.0', '0.10.0', true],
    ['1.0.0-b', '1.0.0-a', false],
    ['2.0.0', '1.9.9', false],
    ['', '1.0.0', true],
  ]
  for (const [first, second, expected] of cases) assert.equal(isOlder(first, second), expected)
})
