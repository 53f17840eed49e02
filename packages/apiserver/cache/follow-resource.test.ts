import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { openSqliteStore } from '@skerry/store'
import { apiServerLimits } from '../limits-table.ts'
import { followResource } from './follow-resource.ts'
import { storageKey, WatchCache } from './watch-cache.ts'

test('a follower of a resource is notified after the cache is read again, until it stops', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-follow-'))
  context.after(() => rm(directory, { recursive: true }))
  const deps = { clock: systemClock, log: silentLogger }
  await using store = await openSqliteStore(join(directory, 'store.db'), {}, deps)
  const cache = new WatchCache({ store, ...deps, limits: apiServerLimits })
  const stop = new AbortController()
  const write = async (name: string): Promise<void> => {
    const value = Buffer.from(
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }),
    )
    const { revision } = await store.write({ key: storageKey('core/configmaps', name), value })
    await cache.waitFor(revision, stop.signal)
  }
  await cache.load()
  const heard: string[] = []
  const follower = {
    onEvent: ({ object }: { object: { key: string } }) => void heard.push(object.key),
    onReset: ({ size }: { size: number }) => void heard.push(`${size} in all`),
  }
  const following = followResource(cache, 'core/configmaps', follower)
  const running = cache.run(stop.signal)
  await write('a')
  // Loads again, like after a gap in the store's history.
  await cache.load()
  await write('b')
  following[Symbol.dispose]()
  await write('c')
  assert.deepEqual(heard, ['a', '1 in all', 'b'])
  stop.abort(new Error('the test is over'))
  await running
})
