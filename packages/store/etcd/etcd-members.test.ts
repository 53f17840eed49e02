/** A store whose members fall silent while their connections stay open. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { silentLogger, simulatedClock, type SimulatedClock } from '@skerry/base'
import { startTestEtcd, until, whyNoEtcd, type TestEtcd } from '@skerry/testing'
import { startRelay, type SilentRelay } from '../testing/silent-relay.ts'
import { StoreUnavailableError } from '../store-errors.ts'
import { openEtcdStore, type EtcdStore } from './etcd-store.ts'

const skip = await whyNoEtcd()
const nowhere = new AbortController().signal
/** etcdCallDefaults.callMs */
const answerMs = 5_000
const value = (text: string): Buffer => Buffer.from(text)

interface Scene extends AsyncDisposable {
  readonly etcd: TestEtcd
  readonly clock: SimulatedClock
  readonly store: EtcdStore
  /** The member that the store uses, and the other one. */
  readonly used: SilentRelay
}

/** One etcd that the store takes for two members. */
async function openScene(): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const etcd = stack.use(await startTestEtcd())
  const relays = [
    stack.use(await startRelay(etcd.endpoint)),
    stack.use(await startRelay(etcd.endpoint)),
  ]
  const clock = simulatedClock()
  const endpoints = relays.map(({ url }) => url)
  const deps = { clock, log: silentLogger }
  const store = stack.use(await openEtcdStore({ endpoints, prefix: '/members' }, deps, nowhere))
  const before = relays.map((relay) => relay.asked())
  await store.write({ key: '/used', value: value('x') })
  const used = relays.find((relay, at) => relay.asked() > (before[at] ?? 0))
  assert.ok(used)
  const owned = stack.move()
  return { etcd, clock, store, used, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Asks the silent member, and lets the time pass after which it is given up. */
async function askInVain<T>({ clock, used }: Scene, ask: () => Promise<T>): Promise<T> {
  const before = used.asked()
  const work = ask()
  work.catch(() => undefined)
  await until(() => used.asked() > before)
  await clock.advance(answerMs)
  // Pauses before another try; less than another member may take to answer.
  for (let round = 0; round < 40; round += 1) {
    await nextTurn()
    await clock.advance(100)
  }
  return work
}

test(
  'calls that fail together at a silent member go to another one, and so does the watch',
  { skip },
  async () => {
    await using scene = await openScene()
    const { store, used } = scene
    const seen: string[] = []
    const abort = new AbortController()
    const watch = store.watch({ prefix: '/', afterRevision: await store.revision() }, abort.signal)
    const watching = (async () => {
      for await (const { events } of watch) {
        seen.push(...events.map(({ key }) => key))
        if (seen.length >= 2) return
      }
    })()
    await store.write({ key: '/before', value: value('x') })
    await until(() => seen.length === 1)
    used.silence('both')
    const found = await askInVain(scene, () =>
      Promise.all(Array.from({ length: 7 }, () => store.get('/before'))),
    )
    const askedBefore = used.asked()
    for (const { entry } of found) assert.equal(String(entry && Buffer.from(entry.value)), 'x')
    await store.write({ key: '/after', value: value('y') })
    await watching
    assert.deepEqual(seen, ['/before', '/after'])
    assert.equal(used.asked(), askedBefore)
  },
)

test('a lease is kept by another member when the one in use is silent', { skip }, async () => {
  await using scene = await openScene()
  const { store, used } = scene
  const { leaseId } = await store.grantLease(600)
  used.silence('both')
  await assert.rejects(
    askInVain(scene, () => store.keepLeaseAlive(leaseId)),
    StoreUnavailableError,
  )
  assert.equal((await store.keepLeaseAlive(leaseId)).ttlSeconds, 600)
})

test(
  'a new object whose answer was lost is there once, and its writer learns that',
  { skip },
  async () => {
    await using scene = await openScene()
    const { store, used } = scene
    used.silence('answers')
    const write = { key: '/new', value: value('its own id'), expectRevision: 0 }
    const result = await askInVain(scene, () => store.write(write))
    assert.equal(result.isApplied, true)
    assert.equal((await store.get('/new')).entry?.modRevision, result.revision)
  },
)

test(
  'a change whose answer was lost does not count as a success: another may have written the same',
  { skip },
  async () => {
    await using scene = await openScene()
    const { store, used } = scene
    const { revision } = await store.write({ key: '/counter', value: value('5') })
    used.silence('answers')
    const write = { key: '/counter', value: value('6'), expectRevision: revision }
    await assert.rejects(
      askInVain(scene, () => store.write(write)),
      StoreUnavailableError,
    )
  },
)
