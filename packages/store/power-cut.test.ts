import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { cutPower, errorLogger, type AfterCut } from '@skerry/testing'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'
import type { Entry } from './store.ts'
import type { PowerWrite } from './testing/power-writer.ts'

const writer = join(import.meta.dirname, 'testing/power-writer.ts')
const command = [process.execPath, writer, '{}']
const clock = simulatedClock()

test('a store whose power is cut at 600 moments opens by itself with each acknowledged write', async () => {
  const seeds = { first: 1, count: 600 }
  const { steps } = await cutPower({ command, seeds }, assertKept)
  assert.ok(steps > 1_000, `${steps} steps`)
})

for (const { what, isDirectory } of [
  { what: 'files', isDirectory: false },
  { what: 'names of files', isDirectory: true },
]) {
  test(`a disk that does not keep ${what} when asked to is caught`, async () => {
    let lost = 0
    const isIgnored = (ofDirectory: boolean): boolean => ofDirectory === isDirectory
    await cutPower({ command, seeds: { first: 1, count: 40 }, isIgnored }, async (left) => {
      await assertKept(left).catch(() => (lost += 1))
    })
    assert.ok(lost >= 10, `${lost} of 40 cuts lost something`)
  })
}

async function assertKept({ seed, directory, told }: AfterCut): Promise<void> {
  const { log, lines } = errorLogger()
  const path = join(directory, 'data/site/store.db')
  const writes = told.map((line) => JSON.parse(line) as PowerWrite)
  await using store = await openSqliteStore(path, { bootId: 'the next' }, { clock, log })
  assert.deepEqual(lines, [], `seed ${seed}`)
  const { entries } = await store.list({ prefix: '/' })
  const left = new Map(entries.map((entry) => [entry.key, entry]))
  const durable = Math.max(
    0,
    ...writes.map(({ revision, isRelaxed }) => (isRelaxed === true ? 0 : revision)),
  )
  for (const key of new Set(writes.map((write) => write.key))) {
    const own = writes.filter((write) => write.key === key)
    assertKey(left.get(key), own, durable, `seed ${seed}: ${key}`)
    left.delete(key)
  }
  assert.deepEqual([...left.keys()], [], `seed ${seed}: nobody wrote these`)
  await assertGoesOn(store, Math.max(1, ...writes.map(({ revision }) => revision)), `seed ${seed}`)
}

/**
 * The key has what was certain of it, or anything later. Certain is an acknowledged write up to the last durable one; a
 * relaxed one after that may be lost, and the last write of the key may be on its way.
 */
function assertKey(
  entry: Entry | undefined,
  writes: readonly PowerWrite[],
  durable: number,
  what: string,
): void {
  const certain = writes.findLastIndex(({ revision }) => revision > 0 && revision <= durable)
  const possible = certain < 0 ? [undefined, ...writes] : writes.slice(certain)
  const text = entry && Buffer.from(entry.value).toString()
  const isPossible = possible.some((write) => {
    if (entry === undefined || write?.text === undefined) return entry?.value === write?.text
    return text === write.text && (write.revision === 0 || write.revision === entry.modRevision)
  })
  const shown = entry ? `${text?.slice(0, 40)} at ${entry.modRevision}` : 'gone'
  assert.ok(isPossible, `${what} is ${shown}; certain was ${writes[certain]?.revision}`)
}

/** Revisions that somebody may have seen never stand for something else. */
async function assertGoesOn(store: SqliteStore, seen: number, what: string): Promise<void> {
  const before = await store.revision()
  assert.ok(before >= seen, `${what}: the newest revision is ${before}, and ${seen} was seen`)
  const { revision } = await store.write({ key: '/after', value: Buffer.from('x') })
  assert.equal(revision, before + 1)
  assert.equal((await store.get('/after')).entry?.modRevision, revision)
}
