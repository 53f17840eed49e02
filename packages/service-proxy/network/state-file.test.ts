import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { stateFile } from './state-file.ts'

test('a damaged state file is treated as missing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-state-file-'))
  const path = join(directory, 'state.json')
  try {
    const file = stateFile<{ services: readonly string[] }>(path, ['services'])
    assert.equal(await file.load(), undefined)
    await file.save({ services: ['a'] })
    assert.deepEqual(await file.load(), { services: ['a'] })
    const whole = await readFile(path, 'utf8')
    const flipped = whole.replace('"a"', '"b"')
    assert.notEqual(flipped, whole)
    for (const text of ['', 'only some text', 'null', '{"format":1}', flipped]) {
      await writeFile(path, text)
      assert.equal(await file.load(), undefined, text)
    }
    await writeFile(path, '{"format":1,"services":["older"]}')
    assert.deepEqual(await file.load(), { services: ['older'] }, 'a file of an older program')
    await rm(path)
    await mkdir(path)
    assert.equal(await file.load(), undefined)
  } finally {
    await rm(directory, { recursive: true })
  }
})
