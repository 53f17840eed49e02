import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock, silentLogger } from '@skerry/base'
import { openAuditLog } from './audit-log.ts'

test('lines stay in order over files of limited size, and old files are deleted', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-audit-'))
  try {
    const path = join(directory, 'audit.log')
    const options = { fileBytesMax: 20, filesMax: 3 }
    for (let round = 0; round < 6; round++) {
      await using log = await openAuditLog(path, options, { log: silentLogger, clock: systemClock })
      log.write(`first of ${round}\n`)
      log.write(`second of ${round}\n`)
    }
    assert.deepEqual((await readdir(directory)).toSorted(), [
      'audit.log',
      'audit.log.1',
      'audit.log.2',
    ])
    assert.equal(await readFile(`${path}.1`, 'utf8'), 'first of 5\nsecond of 5\n')
    assert.equal(await readFile(`${path}.2`, 'utf8'), 'first of 4\nsecond of 4\n')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('lines that a slow disk cannot take are counted, not kept', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-audit-'))
  try {
    const path = join(directory, 'audit.log')
    {
      await using log = await openAuditLog(
        path,
        { waitingBytesMax: 10 },
        { log: silentLogger, clock: systemClock },
      )
      for (let number = 0; number < 5; number++) log.write(`line ${number}\n`)
    }
    const text = await readFile(path, 'utf8')
    assert.equal(text, 'line 0\nline 1\n{"lostRecords":3}\n')
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('old files are removed when nobody has written them for long enough', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-audit-'))
  try {
    const path = join(directory, 'audit.log')
    const options = { fileBytesMax: 1, filesMax: 5, fileAgeMsMax: 86_400_000 }
    for (let round = 0; round < 3; round++) {
      await using log = await openAuditLog(path, options, { log: silentLogger, clock: systemClock })
      log.write(`${round}\n`)
    }
    const daysAgo = Date.now() / 1000 - 2 * 86_400
    await utimes(`${path}.2`, daysAgo, daysAgo)
    await using log = await openAuditLog(path, options, { log: silentLogger, clock: systemClock })
    assert.deepEqual((await readdir(directory)).toSorted(), [
      'audit.log',
      'audit.log.1',
      'audit.log.3',
    ])
    log.write('next\n')
  } finally {
    await rm(directory, { recursive: true })
  }
})
