import assert from 'node:assert/strict'
import { appendFile, cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { StepError } from '@skerry/provisioning'
// The maker of packages for tests.
import { smallPackage } from '../../../packages/offline-package/testing/small-package.ts'
import { packageForMachine } from './package-for-machine.ts'

const machine = { architecture: 'x86_64', release: 'debian-12' }

test('a package is found by its digest, alone or among others, and while the hub runs', async () => {
  await using made = await smallPackage()
  const asked = { digest: made.digest, publicKey: made.key.publicKey }
  const alone = await packageForMachine(asked, machine, [made.directory])
  assert.deepEqual(
    alone.debs.map(({ name, file }) => [name, file.bytes]),
    [['runc', 3]],
  )
  const shelf = join(made.scratch, 'shelf')
  await mkdir(join(shelf, 'broken'), { recursive: true })
  await assert.rejects(packageForMachine(asked, machine, [shelf]), /the hub has no package sha256/)
  await cp(made.directory, join(shelf, 'branch'), { recursive: true })
  const found = await packageForMachine(asked, machine, [shelf])
  assert.ok(found.images.every(({ from }) => from.startsWith(join(shelf, 'branch/blobs/sha256/'))))
})

test('the program is laid out by digests alone', async () => {
  await using made = await smallPackage()
  const asked = { digest: made.digest, publicKey: made.key.publicKey }
  const { program } = await packageForMachine(asked, machine, [made.directory])
  assert.match(program.version, /^0\.2\.0-[0-9a-f]{12}$/)
  assert.match(program.files[0]?.to ?? '', /^\.\.\/node-26\.0\.0-[0-9a-f]{12}$/)
  assert.match(
    program.launcher('/x'),
    /\nexec \/node-26\.0\.0-[0-9a-f]{12} .*\/x\/skerry\.mjs "\$@"\n$/,
  )
})

test('a package of another key, for another system or that was changed ends the step', async () => {
  await using made = await smallPackage()
  await using other = await smallPackage()
  const { digest, key, directory } = made
  const cases: readonly [string, Parameters<typeof packageForMachine>[1], RegExp][] = [
    [other.key.publicKey, machine, /has not signed it/],
    [key.publicKey, { ...machine, release: 'ubuntu-24.04' }, /no packages for ubuntu-24\.04/],
    [key.publicKey, { ...machine, architecture: '../x' }, /no program for/],
  ]
  const isFinal = (message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof StepError && error.isFinal, String(error))
    assert.match(error.message, message)
    return true
  }
  for (const [publicKey, asked, message] of cases) {
    const looked = packageForMachine({ digest, publicKey }, asked, [directory])
    await assert.rejects(looked, isFinal(message))
  }
  await appendFile(join(directory, 'manifest.json'), '\n')
  const changed = packageForMachine({ digest, publicKey: key.publicKey }, machine, [directory])
  await assert.rejects(changed, isFinal(/the hub has no package/))
})
