import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CompactedError, FutureRevisionError } from '../store.ts'
import type { Store, StoreEvent, WatchBatch, Write } from '../store.ts'
import { LeaseNotFoundError } from '../store-errors.ts'

export interface ContractSubject extends AsyncDisposable {
  /** An empty store, with no other user while the test runs. */
  readonly store: Store
  /** Lets `ms` pass for leases and progress. An engine with its own clock really waits. */
  advance(ms: number): Promise<void>
}

/** Opens a new, empty store for each test. Engines that share one server use separate key prefixes. */
export type OpenSubject = () => Promise<ContractSubject>

/**
 * Tests the behaviour required of every engine. Revisions are compared to each other, never to
 * absolute numbers.
 */
export function storeContract(name: string, open: OpenSubject): void {
  describe(`store contract: ${name}`, () => {
    writeTests(open)
    companionTests(open)
    requiredTests(open)
    entryTests(open)
    readTests(open)
    historyTests(open)
    watchTests(open)
    watchEndTests(open)
    leaseTests(open)
  })
}

function writeTests(open: OpenSubject): void {
  test('each applied write gets the next revision', async () => {
    await using subject = await open()
    const { store } = subject
    const start = await store.revision()
    assert.ok(start >= 1)
    const results = await Promise.all(
      ['/a', '/b', '/c'].map((key) => store.write({ key, value: bytes(key) })),
    )
    const revisions = results.map((result) => result.revision - start)
    assert.deepEqual(
      revisions.toSorted((a, b) => a - b),
      [1, 2, 3],
    )
    assert.equal(await store.revision(), start + 3)
  })

  test('expectRevision decides: 0 creates, the current one updates, any other is refused', async () => {
    await using subject = await open()
    const { store } = subject
    const created = await put(store, '/a', 'one', 0)
    const again = await store.write({ key: '/a', value: bytes('two'), expectRevision: 0 })
    assert.equal(again.isApplied, false)
    assert.equal(text(again.isApplied ? undefined : again.current?.value), 'one')
    const updated = await put(store, '/a', 'two', created)
    const stale = await store.write({ key: '/a', expectRevision: created })
    assert.equal(stale.isApplied, false)
    const missing = await store.write({ key: '/b', value: bytes('x'), expectRevision: updated })
    assert.equal(missing.isApplied, false)
    assert.equal(missing.isApplied ? undefined : missing.current, undefined)
    assert.equal(await store.revision(), updated)
  })

  test('writers that race for one key: exactly one wins', async () => {
    await using subject = await open()
    const { store } = subject
    const base = await put(store, '/race', 'start')
    const writes = Array.from({ length: 20 }, (_, index) =>
      store.write({ key: '/race', value: bytes(String(index)), expectRevision: base }),
    )
    const results = await Promise.all(writes)
    assert.equal(results.filter((result) => result.isApplied).length, 1)
  })
}

function requiredTests(open: OpenSubject): void {
  test('a write applies only while the key that it requires has its revision', async () => {
    await using subject = await open()
    const { store } = subject
    const revision = await put(store, '/record', 'a')
    const write = { key: '/main', value: bytes('m'), requires: [{ key: '/record', revision }] }
    assert.ok((await store.write({ ...write, expectRevision: 0 })).isApplied)
    await put(store, '/record', 'b')
    const refused = await store.write(write)
    assert.ok(!refused.isApplied)
    assert.equal(refused.refusedBy, '/record')
    const stale = await store.write({ ...write, expectRevision: 0 })
    assert.ok(!stale.isApplied)
    assert.equal(stale.refusedBy, undefined, "the write's own expectation comes first")
    const companions = [{ key: '/free', value: bytes('a'), expectRevision: 0 }]
    const both = await store.write({ ...write, companions })
    assert.ok(!both.isApplied)
    assert.equal(both.refusedBy, '/record')
    assert.equal((await store.get('/free')).entry, undefined)
  })
}

function companionTests(open: OpenSubject): void {
  test('a write and its companions apply together, and watches see all of them', async () => {
    await using subject = await open()
    const { store } = subject
    const old = await put(store, '/old', 'x')
    const events = take(store, { prefix: '/', after: old }, 3)
    const companions = [
      { key: '/record', value: bytes('a'), expectRevision: 0 },
      { key: '/old', expectRevision: old },
    ]
    const write = { key: '/main', value: bytes('m'), expectRevision: 0, companions }
    const result = await store.write(write)
    assert.ok(result.isApplied)
    assert.equal((await store.get('/main')).entry?.modRevision, result.revision)
    assert.equal(await store.revision(), result.revision)
    assert.equal((await store.get('/old')).entry, undefined)
    const all = (await events).map(shown).toSorted()
    assert.deepEqual(all, ['delete /old=x', 'put /main=m', 'put /record=a'])
    assert.ok((await events).every(({ modRevision }) => modRevision <= result.revision))
  })

  test('a companion that is refused refuses the whole write, and is named', async () => {
    await using subject = await open()
    const { store } = subject
    const taken = await put(store, '/taken', 'first')
    const main = await put(store, '/main', 'before')
    const revision = await store.revision()
    const companions = [
      { key: '/free', value: bytes('a'), expectRevision: 0 },
      { key: '/taken', value: bytes('b'), expectRevision: 0 },
    ]
    const write = { key: '/main', value: bytes('after'), companions }
    const refused = await store.write({ ...write, expectRevision: main })
    assert.ok(!refused.isApplied)
    assert.equal(refused.refusedBy, '/taken')
    assert.equal(refused.revision >= taken, true)
    const stale = await store.write({ ...write, expectRevision: 0 })
    assert.ok(!stale.isApplied)
    assert.equal(stale.refusedBy, undefined, "the write's own expectation comes first")
    assert.equal(text(stale.current?.value), 'before')
    const unconditional = await store.write(write)
    assert.ok(!unconditional.isApplied)
    assert.equal(unconditional.refusedBy, '/taken')
    assert.equal(await store.revision(), revision)
    assert.equal((await store.get('/free')).entry, undefined)
    const twice = { key: '/main', companions: [{ key: '/main', expectRevision: 0 }] }
    await assert.rejects(store.write(twice), RangeError)
  })

  test('writers that race for one companion: exactly one wins', async () => {
    await using subject = await open()
    const { store } = subject
    const companions = [{ key: '/record', value: bytes('x'), expectRevision: 0 }]
    const writes = Array.from({ length: 20 }, (_, index) =>
      store.write({ key: `/main/${index}`, value: bytes('x'), expectRevision: 0, companions }),
    )
    const results = await Promise.all(writes)
    assert.equal(results.filter((result) => result.isApplied).length, 1)
    assert.equal((await store.list({ prefix: '/main/' })).entries.length, 1)
  })
}

function entryTests(open: OpenSubject): void {
  test('a put keeps createRevision until the key is deleted', async () => {
    await using subject = await open()
    const { store } = subject
    const first = await put(store, '/a', '1')
    const second = await put(store, '/a', '2')
    const { entry } = await store.get('/a')
    assert.equal(entry?.createRevision, first)
    assert.equal(entry?.modRevision, second)
    const removed = await store.write({ key: '/a', expectRevision: second })
    assert.equal(text(removed.isApplied ? removed.previous?.value : undefined), '2')
    const third = await put(store, '/a', '3', 0)
    assert.equal((await store.get('/a')).entry?.createRevision, third)
  })

  test('deleting a missing key applies and changes nothing', async () => {
    await using subject = await open()
    const { store } = subject
    const before = await store.revision()
    const result = await store.write({ key: '/none' })
    assert.equal(result.isApplied, true)
    assert.equal(await store.revision(), before)
  })

  test('values are bytes and come back as they were', async () => {
    await using subject = await open()
    const { store } = subject
    const value = Uint8Array.from({ length: 256 }, (_, index) => index)
    await store.write({ key: '/bytes', value })
    await store.write({ key: '/empty', value: new Uint8Array(0) })
    assert.deepEqual([...((await store.get('/bytes')).entry?.value ?? [])], [...value])
    assert.equal((await store.get('/empty')).entry?.value.length, 0)
  })
}

function readTests(open: OpenSubject): void {
  test('get and list answer as of a past revision', async () => {
    await using subject = await open()
    const { store } = subject
    const one = await put(store, '/r/a', 'a1')
    const two = await put(store, '/r/b', 'b1')
    const three = await put(store, '/r/a', 'a2')
    await store.write({ key: '/r/b' })
    assert.equal(text((await store.get('/r/a', one)).entry?.value), 'a1')
    assert.equal((await store.get('/r/b', one)).entry, undefined)
    assert.deepEqual(await listed(store, two), ['/r/a=a1', '/r/b=b1'])
    assert.deepEqual(await listed(store, three), ['/r/a=a2', '/r/b=b1'])
    assert.deepEqual(await listed(store, 0), ['/r/a=a2'])
  })

  test('a list is ordered by bytes and stays within its prefix', async () => {
    await using subject = await open()
    const { store } = subject
    // U+FFFD sorts after U+1F600 in UTF-16 and before it in UTF-8.
    const keys = ['/p/a', '/p/a/b', '/p/b', '/p/\u{fffd}', '/p/\u{1f600}']
    for (const key of [...keys.toReversed(), '/o', '/p', '/p0', '/q/a']) await put(store, key, 'x')
    const { entries } = await store.list({ prefix: '/p/' })
    assert.deepEqual(
      entries.map((entry) => entry.key),
      keys,
    )
  })

  test('pages of one revision are not disturbed by writes between them', async () => {
    await using subject = await open()
    const { store } = subject
    for (let index = 0; index < 7; index += 1) await put(store, `/page/${index}`, 'x')
    const first = await store.list({ prefix: '/page/', limit: 3 })
    assert.equal(first.more, true)
    assert.equal(first.remaining, 4)
    await put(store, '/page/35', 'late')
    await store.write({ key: '/page/6' })
    const after = first.entries.at(-1)?.key ?? ''
    const { revision } = first
    const second = await store.list({ prefix: '/page/', limit: 3, after, revision })
    const last = await store.list({ prefix: '/page/', limit: 3, after: '/page/5', revision })
    const keys = [first, second, last].flatMap((page) => page.entries.map((entry) => entry.key))
    assert.deepEqual(
      keys,
      [0, 1, 2, 3, 4, 5, 6].map((index) => `/page/${index}`),
    )
    assert.deepEqual([last.more, last.remaining], [false, 0])
  })
}

function historyTests(open: OpenSubject): void {
  test('a limit that fits exactly leaves nothing over', async () => {
    await using subject = await open()
    const { store } = subject
    await put(store, '/x/1', 'x')
    await put(store, '/x/2', 'x')
    const { more, remaining } = await store.list({ prefix: '/x/', limit: 2 })
    assert.deepEqual({ more, remaining }, { more: false, remaining: 0 })
  })

  test('a future revision is refused', async () => {
    await using subject = await open()
    const { store } = subject
    const next = (await store.revision()) + 1
    await assert.rejects(store.get('/a', next), FutureRevisionError)
    await assert.rejects(store.list({ prefix: '/', revision: next }), FutureRevisionError)
  })

  test('compaction keeps its own revision readable and refuses earlier ones', async () => {
    await using subject = await open()
    const { store } = subject
    const first = await put(store, '/c/a', '1')
    await put(store, '/c/gone', 'x')
    await store.write({ key: '/c/gone' })
    const at = await put(store, '/c/b', '1')
    const newest = await put(store, '/c/a', '2')
    await store.compact(at)
    assert.equal(await store.compactedRevision(), at)
    await assert.rejects(store.get('/c/a', first), CompactedError)
    await assert.rejects(store.compact(at), CompactedError)
    await assert.rejects(store.compact(newest + 1), FutureRevisionError)
    assert.equal(text((await store.get('/c/a', at)).entry?.value), '1')
    const keys = (await store.list({ prefix: '/c/', revision: at })).entries.map(({ key }) => key)
    assert.deepEqual(keys, ['/c/a', '/c/b'])
    assert.deepEqual((await take(store, { prefix: '/c/', after: at }, 1)).map(shown), [
      'put /c/a=2<1',
    ])
  })
}

function watchTests(open: OpenSubject): void {
  test('history and live events follow each other without gap or duplicate', async () => {
    await using subject = await open()
    const { store } = subject
    const start = await put(store, '/w/0', 'x')
    for (let index = 1; index <= 20; index += 1) await put(store, `/w/${index}`, 'x')
    const watched = take(store, { prefix: '/w/', after: start }, 40)
    const writes: Promise<unknown>[] = []
    for (let index = 21; index <= 40; index += 1) {
      writes.push(store.write({ key: `/w/${index}`, value: bytes('x') }))
      if (index % 5 === 0) await Promise.all(writes)
    }
    const keys = (await watched).map((event) => Number(event.key.slice(3)))
    assert.deepEqual(
      keys.toSorted((a, b) => a - b),
      Array.from({ length: 40 }, (_, i) => i + 1),
    )
    const revisions = (await watched).map((event) => event.modRevision)
    assert.deepEqual(
      revisions,
      revisions.toSorted((a, b) => a - b),
    )
  })

  for (const source of ['history', 'live'] as const) {
    test(`events carry the previous value (${source})`, async () => {
      await using subject = await open()
      const { store } = subject
      const start = await store.revision()
      const script = async (): Promise<void> => {
        await put(store, '/e/a', '1')
        await put(store, '/e/a', '2')
        await put(store, '/elsewhere', 'x')
        await store.write({ key: '/e/a' })
        await put(store, '/e/a', '3')
      }
      if (source === 'history') await script()
      const events = take(store, { prefix: '/e/', after: start }, 4)
      if (source === 'live') await script()
      const expected = ['put /e/a=1', 'put /e/a=2<1', 'delete /e/a=2', 'put /e/a=3']
      assert.deepEqual((await events).map(shown), expected)
    })
  }
}

function watchEndTests(open: OpenSubject): void {
  test('a watch from 0 starts now; each watcher gets its own prefix', async () => {
    await using subject = await open()
    const { store } = subject
    await put(store, '/n/old', 'x')
    const all = take(store, { prefix: '/n/', after: 0 }, 2)
    const some = take(store, { prefix: '/n/b/', after: 0 }, 1)
    // An engine behind a network needs the watches to exist before the writes.
    await subject.advance(0)
    await put(store, '/n/a/1', 'x')
    await put(store, '/n/b/1', 'x')
    assert.deepEqual(
      (await all).map((event) => event.key),
      ['/n/a/1', '/n/b/1'],
    )
    assert.deepEqual(
      (await some).map((event) => event.key),
      ['/n/b/1'],
    )
  })

  test('a watch below the compacted revision ends with CompactedError', async () => {
    await using subject = await open()
    const { store } = subject
    const first = await put(store, '/a', '1')
    await put(store, '/a', '2')
    await put(store, '/a', '3')
    await store.compact(await store.revision())
    await assert.rejects(take(store, { prefix: '/', after: first }, 1), CompactedError)
  })

  test('an abort ends the watch with its reason', async () => {
    await using subject = await open()
    const abort = new AbortController()
    const reason = new Error('enough')
    const options = { prefix: '/', afterRevision: 0 }
    const watch = subject.store.watch(options, abort.signal)[Symbol.asyncIterator]()
    const next = watch.next()
    abort.abort(reason)
    await assert.rejects(next, reason)
  })

  test('progress reports how far a quiet watch is', async () => {
    await using subject = await open()
    const { store } = subject
    const abort = new AbortController()
    const options = { prefix: '/quiet/', afterRevision: 0, progressMs: 1_000 }
    const watch = store.watch(options, abort.signal)[Symbol.asyncIterator]()
    const next = watch.next()
    const revision = await put(store, '/other', 'x')
    await subject.advance(2_000)
    const batch: WatchBatch | undefined = (await next).value
    assert.deepEqual([batch?.events.length, batch?.revision], [0, revision])
    await watch.return?.()
  })
}

function leaseTests(open: OpenSubject): void {
  test('keys go when their lease expires; a key written again without it stays', async () => {
    await using subject = await open()
    const { store } = subject
    const { leaseId } = await store.grantLease(5)
    await store.write({ key: '/l/a', value: bytes('x'), leaseId })
    await store.write({ key: '/l/b', value: bytes('x'), leaseId })
    await put(store, '/l/b', 'mine now')
    const gone = take(store, { prefix: '/l/', after: await store.revision() }, 1)
    await subject.advance(8_000)
    assert.deepEqual((await gone).map(shown), ['delete /l/a=x'])
    assert.deepEqual(
      (await store.list({ prefix: '/l/' })).entries.map(({ key }) => key),
      ['/l/b'],
    )
    await assert.rejects(store.keepLeaseAlive(leaseId), LeaseNotFoundError)
  })

  test('keeping a lease alive starts its time over', async () => {
    await using subject = await open()
    const { store } = subject
    const { leaseId } = await store.grantLease(10)
    await store.write({ key: '/l/a', value: bytes('x'), leaseId })
    await subject.advance(6_000)
    assert.deepEqual(await store.keepLeaseAlive(leaseId), { ttlSeconds: 10 })
    await subject.advance(6_000)
    assert.ok((await store.get('/l/a')).entry)
    await store.revokeLease(leaseId)
    assert.equal((await store.get('/l/a')).entry, undefined)
  })

  test('an unknown lease is refused and nothing is written', async () => {
    await using subject = await open()
    const { store } = subject
    const write: Write = { key: '/l/x', value: bytes('x'), leaseId: 4_711 }
    await assert.rejects(store.write(write), LeaseNotFoundError)
    await assert.rejects(store.revokeLease(4_711), LeaseNotFoundError)
    assert.equal((await store.get('/l/x')).entry, undefined)
  })
}

async function put(store: Store, key: string, value: string, expect?: number): Promise<number> {
  const write: Write = { key, value: bytes(value) }
  if (expect !== undefined) write.expectRevision = expect
  const result = await store.write(write)
  assert.equal(result.isApplied, true, `write of ${key} was refused`)
  return result.revision
}

async function listed(store: Store, revision: number): Promise<string[]> {
  const { entries } = await store.list({ prefix: '/r/', revision })
  return entries.map((entry) => `${entry.key}=${text(entry.value)}`)
}

/** Returns the first `count` events of a watch. */
async function take(
  store: Store,
  options: { prefix: string; after: number },
  count: number,
): Promise<StoreEvent[]> {
  const abort = new AbortController()
  const events: StoreEvent[] = []
  const { prefix, after: afterRevision } = options
  for await (const batch of store.watch({ prefix, afterRevision }, abort.signal)) {
    events.push(...batch.events)
    if (events.length >= count) break
  }
  return events
}

function shown(event: StoreEvent): string {
  const before = event.previous ? `<${text(event.previous.value)}` : ''
  return `${event.type} ${event.key}=${text(event.value)}${before}`
}

function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value)
}

function text(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : new TextDecoder().decode(value)
}
