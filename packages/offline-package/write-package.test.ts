import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createOperatorKey } from './operator-key.ts'
import { smallPackage } from './testing/small-package.ts'
import { PackageWriter } from './write-package.ts'

test('the same content gives the same manifest', async () => {
  await using one = await smallPackage()
  await using two = await smallPackage()
  assert.equal(one.digest, two.digest)
  const read = (directory: string) => readFile(join(directory, 'manifest.json'), 'utf8')
  assert.equal(await read(one.directory), await read(two.directory))
})

test('a package that is not finished leaves nothing, and a directory with files is not written to', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-write-package-'))
  try {
    {
      await using writer = await PackageWriter.create(join(scratch, 'half'))
      await writer.addBytes(Buffer.from('x'))
    }
    assert.deepEqual(await readdir(scratch), [])
    await mkdir(join(scratch, 'mine'))
    await writeFile(join(scratch, 'mine', 'letter'), '')
    await assert.rejects(PackageWriter.create(join(scratch, 'mine')), /is not empty/)
  } finally {
    await rm(scratch, { recursive: true })
  }
})

test('a manifest that no machine would take is not signed', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-write-package-'))
  try {
    await using writer = await PackageWriter.create(join(scratch, 'package'))
    // An object of another kind, as a mistake elsewhere might give it.
    const wrong = { kind: 'SkerryOfflinePackage', programs: [] } as never
    await assert.rejects(writer.finish(wrong, createOperatorKey().privateKey), /manifest is wrong/)
    await assert.rejects(readdir(join(scratch, 'package')))
  } finally {
    await rm(scratch, { recursive: true })
  }
})
