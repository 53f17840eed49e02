import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger } from '@skerry/base'
import type { ConfigMap } from '@skerry/api'
import { simulatedClock, type SimulatedClock } from '@skerry/testing'
import { createCluster } from './cluster.ts'
import { createInformer, type Informer } from './informer.ts'
import { resources } from './resources-table.ts'
import { WatchBody, scriptedTransport, type ScriptedAnswer } from './testing/scripted-transport.ts'

const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }

function configMap(name: string, version: number, uid = name): ConfigMap {
  const metadata = { name, namespace: 'a', uid, resourceVersion: String(version) }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata }
}

function list(version: number, ...items: ConfigMap[]): ScriptedAnswer {
  const metadata = { resourceVersion: String(version) }
  return { body: { apiVersion: 'v1', kind: 'ConfigMapList', metadata, items } }
}

interface Story extends AsyncDisposable {
  clock: SimulatedClock
  /** The paths, except those that the server does not know. */
  asked: readonly string[]
  informer: Informer<ConfigMap>
  changes: string[]
}

const unknownOption: ScriptedAnswer = {
  status: 422,
  body: { kind: 'Status', code: 422, reason: 'Invalid', message: 'sendInitialEvents is forbidden' },
}

/**
 * Runs an informer. Lists are answered in turn, and watches get the given bodies in turn. Without
 * lists the server sends the objects in the watch.
 */
function start(
  lists: (ScriptedAnswer | Error)[] | undefined,
  watches: (WatchBody | ScriptedAnswer | Error)[],
): Story {
  const clock = simulatedClock()
  const asked: string[] = []
  const transport = scriptedTransport(({ path }) => {
    if (lists && path.includes('sendInitialEvents')) return unknownOption
    asked.push(path)
    const next = path.includes('watch=true') ? watches.shift() : lists?.shift()
    if (next === undefined) return new Error('connection refused')
    return next instanceof WatchBody ? { body: next } : next
  })
  const deps = { clock, random: seededRandom(1), log: silentLogger }
  const cluster = createCluster(transport, { ...deps, userAgent: 'test' })
  const informer = createInformer(cluster.resource(resources.configMaps), {}, deps)
  const changes: string[] = []
  informer.onChange(({ type, object }) => {
    changes.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`)
  })
  const controller = new AbortController()
  const running = informer.run(controller.signal).catch((error: unknown) => error)
  return {
    clock,
    asked,
    informer,
    changes,
    async [Symbol.asyncDispose]() {
      controller.abort(new Error('test ended'))
      for (const watch of watches) if (watch instanceof WatchBody) watch.end()
      await clock.advance(0)
      void running
    },
  }
}

test('an informer lists, then follows the watch from the list on', async () => {
  const watch = new WatchBody()
  await using story = start([list(5, configMap('x', 3))], [watch])
  await story.clock.advance(0)
  assert.ok(story.informer.hasSynced())
  watch.event('ADDED', configMap('y', 6))
  watch.event('MODIFIED', configMap('x', 7))
  watch.event('DELETED', configMap('y', 8))
  await story.clock.advance(0)
  assert.deepEqual(story.changes, ['added x 3', 'added y 6', 'updated x 7', 'deleted y 6'])
  assert.match(story.asked[1] ?? '', /resourceVersion=5/)
  watch.end()
})

test('if the server sends the objects in the watch, one request is enough', async () => {
  const first = new WatchBody()
  const second = new WatchBody()
  await using story = start(undefined, [first, second])
  const end = { 'k8s.io/initial-events-end': 'true' }
  first.event('ADDED', configMap('x', 3))
  first.event('ADDED', configMap('y', 2))
  await story.clock.advance(0)
  assert.ok(!story.informer.hasSynced(), 'more may come')
  first.event('BOOKMARK', { metadata: { resourceVersion: '5', annotations: end } })
  first.event('MODIFIED', configMap('x', 7))
  await story.clock.advance(0)
  assert.ok(story.informer.hasSynced())
  assert.match(story.asked[0] ?? '', /sendInitialEvents=true&resourceVersionMatch=NotOlderThan/)
  assert.deepEqual(story.changes, ['added x 3', 'added y 2', 'updated x 7'])
  first.event('ERROR', expired)
  second.event('ADDED', configMap('x', 9))
  second.event('BOOKMARK', { metadata: { resourceVersion: '9', annotations: end } })
  await story.clock.advance(5_000)
  assert.deepEqual(story.changes.slice(3), ['updated x 9', 'deleted y 2'])
  assert.equal(story.asked.length, 2)
  second.end()
})

const x = configMap('x', 6)
const oddEvents: Readonly<Record<string, readonly [type: string, object: object]>> = {
  'a version that is a number': [
    'MODIFIED',
    { ...x, metadata: { ...x.metadata, resourceVersion: 99 } },
  ],
  'invalid labels': ['MODIFIED', { ...x, metadata: { ...x.metadata, labels: ['a'] } }],
  'no metadata': ['MODIFIED', { kind: 'ConfigMap', metadata: null }],
  'no object': ['DELETED', []],
  'no type': ['', x],
  'data that no index can read': ['MODIFIED', { ...x, data: { a: 7 } }],
  'an invalid pause': ['ERROR', { ...expired, details: { retryAfterSeconds: 'for ever' } }],
  'a pause without an end': ['ERROR', { ...expired, details: { retryAfterSeconds: 1e300 } }],
}

for (const [what, event] of Object.entries(oddEvents)) {
  test(`an event with ${what} is forgotten with the next right answer`, async () => {
    const watches = [new WatchBody(), new WatchBody()] as const
    const right = list(8, configMap('x', 7))
    await using story = start([list(5, configMap('x', 3)), right, right], [...watches])
    story.informer.addIndex('data', ({ data = {} }) => data['a']?.split(',') ?? [])
    await story.clock.advance(0)
    watches[0].event(...event)
    await story.clock.advance(0)
    const asked = story.asked.length
    // The informer must neither send requests in a hot loop nor stop sending them.
    await story.clock.advance(100)
    assert.ok(story.asked.length <= asked + 1)
    await story.clock.advance(3_700_000)
    for (const watch of watches) watch.event('MODIFIED', configMap('x', 9))
    await story.clock.advance(0)
    assert.equal(story.informer.get({ namespace: 'a', name: 'x' })?.metadata.resourceVersion, '9')
  })
}

test('a version that the server does not accept is forgotten, and everything is read again', async () => {
  const first = new WatchBody()
  const last = new WatchBody()
  const refused = { status: 400, body: { kind: 'Status', code: 400, reason: 'BadRequest' } }
  await using story = start([list(5), list(8, configMap('x', 7))], [first, refused, last])
  await story.clock.advance(0)
  first.event('BOOKMARK', { metadata: { resourceVersion: 'odd' } })
  first.end()
  await story.clock.advance(60_000)
  assert.ok(story.informer.get({ namespace: 'a', name: 'x' }))
  last.end()
})

test('a list without an end is refused', async () => {
  const metadata = { resourceVersion: '5', continue: 'more' }
  const empty = { body: { apiVersion: 'v1', kind: 'ConfigMapList', metadata, items: [] } }
  let asked = 0
  const transport = scriptedTransport(() => ((asked += 1), empty))
  const deps = { clock: simulatedClock(), random: seededRandom(1), log: silentLogger }
  const maps = createCluster(transport, { ...deps, userAgent: 'test' }).resource(
    resources.configMaps,
  )
  await assert.rejects(maps.list({}, new AbortController().signal), /pages without an end/)
  assert.ok(asked <= 10_001)
})

test('a watch that ends before all objects have come starts again', async () => {
  const first = new WatchBody()
  const second = new WatchBody()
  await using story = start(undefined, [first, second])
  first.event('ADDED', configMap('x', 3))
  first.end()
  await story.clock.advance(5_000)
  assert.match(story.asked[1] ?? '', /sendInitialEvents=true/)
  second.end()
})

test('a watch that ends goes on from the last version, bookmarks included', async () => {
  const first = new WatchBody()
  const second = new WatchBody()
  await using story = start([list(5)], [first, second])
  await story.clock.advance(5_000)
  first.event('BOOKMARK', { metadata: { resourceVersion: '42' } })
  first.end()
  await story.clock.advance(10_000)
  assert.equal(story.asked.length, 3)
  assert.match(story.asked[2] ?? '', /resourceVersion=42/)
  second.end()
})

test('an expired watch lists again and reports only the changes since', async () => {
  const first = new WatchBody()
  const second = new WatchBody()
  await using story = start(
    [
      list(5, configMap('x', 3), configMap('y', 4)),
      list(50, configMap('x', 30), configMap('z', 40)),
    ],
    [first, second],
  )
  await story.clock.advance(0)
  first.event('ERROR', expired)
  await story.clock.advance(5_000)
  assert.deepEqual(story.changes, [
    'added x 3',
    'added y 4',
    'updated x 30',
    'added z 40',
    'deleted y 4',
  ])
  second.end()
})

test('away from the server an informer keeps its objects, retries ever less often, and says how old they are', async () => {
  const watch = new WatchBody()
  await using story = start([list(5, configMap('x', 3))], [watch])
  await story.clock.advance(0)
  assert.equal(story.informer.lastContactMs(), 0)
  watch.end()
  await story.clock.advance(600_000)
  assert.equal(story.informer.list().length, 1)
  assert.equal(story.informer.lastContactMs(), 0)
  const tries = story.asked.length - 2
  assert.ok(tries >= 10 && tries <= 30, `tried ${tries} times in ten minutes`)
})

test('a watch that ends at once is not opened in a hot loop', async () => {
  const ended = Array.from({ length: 100 }, () => {
    const watch = new WatchBody()
    watch.end()
    return watch
  })
  await using story = start([list(5)], ended)
  await story.clock.advance(60_000)
  const opened = story.asked.length - 1
  assert.ok(opened <= 12, `opened ${opened} watches in a minute`)
})

test('own writes show at once, and the watch does not repeat them', async () => {
  const watch = new WatchBody()
  await using story = start([list(5)], [watch])
  await story.clock.advance(0)
  story.informer.recordWrite(configMap('x', 6))
  assert.equal(story.informer.list('a').length, 1)
  watch.event('ADDED', configMap('x', 6))
  watch.event('MODIFIED', configMap('x', 7))
  await story.clock.advance(0)
  assert.deepEqual(story.changes, ['added x 6', 'updated x 7'])
  watch.end()
})

test('an answer that arrives after its deletion does not bring the object back', async () => {
  const watch = new WatchBody()
  await using story = start([list(5)], [watch])
  await story.clock.advance(0)
  watch.event('ADDED', configMap('x', 6))
  watch.event('DELETED', configMap('x', 7))
  await story.clock.advance(0)
  story.informer.recordWrite(configMap('x', 6))
  assert.equal(story.informer.list().length, 0)
  watch.end()
})

test('an own delete is not undone by older events that are still under way', async () => {
  const watch = new WatchBody()
  await using story = start([list(5, configMap('x', 3))], [watch])
  await story.clock.advance(0)
  story.informer.recordDelete(configMap('x', 8))
  watch.event('MODIFIED', configMap('x', 7))
  await story.clock.advance(0)
  assert.equal(story.informer.list().length, 0)
  watch.event('DELETED', configMap('x', 8))
  watch.event('ADDED', configMap('x', 9, 'another'))
  await story.clock.advance(0)
  assert.deepEqual(story.changes, ['added x 3', 'deleted x 3', 'added x 9'])
  watch.end()
})

test('an object that was created again under the same name is a deletion and an addition', async () => {
  const first = new WatchBody()
  const second = new WatchBody()
  await using story = start(
    [list(5, configMap('x', 3, 'one')), list(9, configMap('x', 8, 'two'))],
    [first, second],
  )
  await story.clock.advance(0)
  first.event('ERROR', expired)
  await story.clock.advance(5_000)
  assert.deepEqual(story.changes, ['added x 3', 'deleted x 3', 'added x 8'])
  second.end()
})

test('objects are found by index, also after they changed it, and cannot be changed', async () => {
  const watch = new WatchBody()
  await using story = start([list(5, configMap('x', 3))], [watch])
  await story.clock.advance(0)
  story.informer.addIndex('color', ({ data }) => [data?.['color'] ?? 'none'])
  assert.equal(story.informer.byIndex('color', 'none').length, 1)
  watch.event('MODIFIED', { ...configMap('x', 6), data: { color: 'red' } })
  await story.clock.advance(0)
  assert.equal(story.informer.byIndex('color', 'none').length, 0)
  const [red] = story.informer.byIndex('color', 'red')
  assert.ok(red)
  assert.throws(() => Object.assign(red.metadata, { name: 'y' }), TypeError)
  watch.end()
})
