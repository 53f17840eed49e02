import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { openSqliteStore } from '@skerry/store'
import { ReplicaDirectory } from './replica-directory.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const listener = { onCluster: () => undefined, onReplicas: () => undefined }

test('a replica that announces itself can be found by the others', async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-replicas-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const store = stack.use(await openSqliteStore(join(directory, 'store.db'), {}, deps))
  const first = { id: '0123456789abcdef', address: 'https://one:1', certificateHash: 'aa' }
  const second = { id: 'fedcba9876543210', address: 'https://two:1', certificateHash: 'bb' }
  const joining = new ReplicaDirectory(first, { ...deps, store }, listener)
  const other = new ReplicaDirectory(second, { ...deps, store }, listener)
  await joining.load()
  assert.equal(await other.find(first.id), undefined)
  const stop = new AbortController()
  const running = joining.run(stop.signal)
  await joining.whenTold(AbortSignal.timeout(20_000))
  assert.deepEqual(await other.find(first.id), first)
  stop.abort(new Error('the test is over'))
  await running
})
