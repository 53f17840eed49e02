import assert from 'node:assert/strict'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readAllowedDials } from './allowed-dials.ts'

test('a file that goes while the directory is read allows nothing, and the others count', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-dials-'))
  await using _removed = {
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
  await writeFile(join(directory, '10.0.0.2'), '10.0.0.2:22\n')
  // It is listed, and is not there when it is read.
  await symlink(join(directory, 'nowhere'), join(directory, '10.0.0.3'))
  const dials = await readAllowedDials({ directory })
  assert.deepEqual(
    dials.map(({ host, port }) => [host, port]),
    [['10.0.0.2', 22]],
  )
  await writeFile(join(directory, '10.0.0.3'), 'not an address\n')
  await assert.rejects(readAllowedDials({ directory }), /10\.0\.0\.3: line 1|nowhere: line 1/)
})
