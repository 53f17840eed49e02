import assert from 'node:assert/strict'
import { appendFile, cp, mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
// The maker of packages for tests.
import {
  smallPackage,
  type SmallPackage,
} from '../../packages/offline-package/testing/small-package.ts'
import { PackageShelf } from './package-shelf.ts'

/** Copies a package as a machine keeps it: all packages share one directory of files. */
async function keep({ directory, digest }: SmallPackage, packages: string): Promise<void> {
  const own = join(packages, digest.slice('sha256:'.length))
  await mkdir(own, { recursive: true })
  for (const name of ['manifest.json', 'manifest.sig'])
    await cp(join(directory, name), join(own, name))
  await cp(join(directory, 'blobs'), join(packages, 'blobs'), { recursive: true })
}

test('a package is found alone, among others, and where a machine keeps its own', async () => {
  await using made = await smallPackage()
  const own = join(made.scratch, 'own')
  await keep(made, own)
  for (const directory of [made.directory, made.scratch, own]) {
    const shelf = new PackageShelf([join(made.scratch, 'missing'), directory], simulatedClock(0))
    const found = await shelf.find(made.digest)
    assert.ok(found, basename(directory))
    assert.equal(found.files.size, 5)
    const places = directory === own ? own : made.directory
    assert.equal(found.places.blobs, join(places, 'blobs', 'sha256'))
  }
})

test('a package that comes later is found, and strangers who ask for others cause one look a second', async () => {
  await using made = await smallPackage()
  const clock = simulatedClock(0)
  const later = join(made.scratch, 'later')
  const shelf = new PackageShelf([later], clock)
  assert.equal(await shelf.find(made.digest), undefined)
  await cp(made.directory, join(later, 'branch'), { recursive: true })
  assert.equal(await shelf.find(made.digest), undefined, 'it has just looked')
  await clock.advance(1_000)
  assert.equal((await shelf.find(made.digest))?.digest, made.digest)
})

test('a package that somebody has changed is another one', async () => {
  await using made = await smallPackage()
  await appendFile(join(made.directory, 'manifest.json'), '\n')
  const shelf = new PackageShelf([made.directory], simulatedClock(0))
  assert.equal(await shelf.find(made.digest), undefined)
})
