import assert from 'node:assert/strict'
import { appendFile, mkdtemp, open, readFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { keepLogBounded } from './bounded-log.ts'
import { silentLogger } from './log.ts'
import { simulatedClock } from './simulated-clock.ts'

test('a log that grows keeps its writer, and four copies', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-log-'))
  const stop = new AbortController()
  try {
    const path = join(directory, 'site.log')
    await using writer = await open(path, 'a')
    const clock = simulatedClock()
    const ended = keepLogBounded(path, { clock, log: silentLogger }, stop.signal).catch(() => true)
    for (let round = 1; round <= 6; round += 1) {
      await appendFile(writer, `${round}`.padEnd(11 * 1024 * 1024, '.'))
      await clock.advance(60_000)
      while ((await stat(path)).size > 0) await clock.advance(60_000)
    }
    await appendFile(writer, 'after')
    assert.equal(await readFile(path, 'utf8'), 'after')
    const copies = (await readdir(directory)).toSorted()
    assert.deepEqual(copies, ['site.log', ...[1, 2, 3, 4].map((at) => `site.log.${at}`)])
    const first = await readFile(`${path}.1`, 'utf8')
    const last = await readFile(`${path}.4`, 'utf8')
    assert.deepEqual([first[0], last[0]], ['6', '3'])
    stop.abort(new Error('the test is over'))
    assert.equal(await ended, true)
  } finally {
    await rm(directory, { recursive: true })
  }
})
