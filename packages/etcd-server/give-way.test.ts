import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openTestServer, type TestServer } from './testing/open-test-server.ts'

const b = (text: string): Uint8Array => Buffer.from(text)

async function fill(server: TestServer, count: number): Promise<void> {
  const value = Buffer.alloc(100_000, 'v')
  for (let at = 0; at < count; at += 20) {
    const puts = Array.from({ length: 20 }, (_, next) =>
      server.client.call('Put', { key: b(`key/${at + next}`), value }),
    )
    await Promise.all(puts)
  }
}

/** Puts one key after the other while the work goes on; returns how many turns of the event loop there were meanwhile. */
async function turnsDuring(server: TestServer, work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const ended = work.finally(() => {
    isDone = true
  })
  const counting = (async () => {
    for (; !isDone; turns += 1) await nextTurn()
  })()
  while (!isDone) await server.client.call('Put', { key: b('beside'), value: b('1') })
  await Promise.all([ended, counting])
  return turns
}

test('a defragmentation shrinks the file while puts go on', async () => {
  await using server = await openTestServer()
  await fill(server, 200)
  const { header } = await server.client.call('DeleteRange', {
    key: b('key/'),
    rangeEnd: b('key0'),
  })
  await server.client.call('Compact', { revision: header?.revision ?? 0, physical: true })
  const before = await server.client.call('Status', {})
  assert.ok(before.dbSize > 20_000_000 && before.dbSizeInUse < 2_000_000)
  const turns = await turnsDuring(server, server.client.call('Defragment', {}))
  const after = await server.client.call('Status', {})
  assert.ok(after.dbSize < 2_000_000, String(after.dbSize))
  assert.ok(turns >= 20, `${turns} turns`)
})

test('a range of many megabytes is read and written while puts go on', async () => {
  await using server = await openTestServer()
  await fill(server, 100)
  const all = server.client.call('Range', { key: b('key/'), rangeEnd: b('key0') })
  const turns = await turnsDuring(server, all)
  assert.equal((await all).kvs.length, 100)
  assert.ok(turns >= 20, `${turns} turns`)
})
