import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BoundedQueue,
  createLogger,
  silentLogger,
  systemClock,
  systemRandom,
  type Logger,
} from '@skerry/base'
import type { ConfigMap } from '@skerry/api'
import {
  createCluster,
  createEventSink,
  keyOfObject,
  resources,
  type ClusterClient,
  type Transport,
} from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { runController, watch, type ControllerDefinition } from './controller.ts'
import { createInformerSet } from './informer-set.ts'
import { TerminalError } from './terminal-error.ts'

const namespace = 'default'

/** Watches of this transport deliver nothing until they are released. */
function heldWatches(target: Transport): Transport & { release(): void } {
  const released = Promise.withResolvers<void>()
  return {
    release: released.resolve,
    async send(request, signal) {
      // The objects must come by list, from a server that does not send them in the watch.
      if (request.path.includes('sendInitialEvents')) return refusal
      const answer = await target.send(request, signal)
      if (!request.path.includes('watch=true')) return answer
      return { ...answer, body: after(released.promise, answer.body) }
    },
  }
}

const refusal = Object.freeze({
  status: 422,
  headers: {},
  body: lines({ kind: 'Status', code: 422, reason: 'Invalid', message: 'sendInitialEvents' }),
})

function lines(value: unknown): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(JSON.stringify(value))
    },
  }
}

async function* after(
  released: Promise<void>,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  await released
  yield* body
}

function configMap(name: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }
}

test('a controller whose watch lags behind does not create the same objects twice', async () => {
  await using api = await startTestApiServer()
  const transport = heldWatches(api.transport)
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const cluster = createCluster(transport, { ...deps, userAgent: 'test' })
  const informers = createInformerSet(cluster, deps)
  const looks = new BoundedQueue<number>(100)
  /** Creates config maps with generated names until its cache shows three. */
  const definition: ControllerDefinition = {
    name: 'three-config-maps',
    watches: [watch(resources.configMaps, { keysOf: () => ['all'] })],
    workers: 3,
    async reconcile(_, context, signal) {
      const known = context.informer(resources.configMaps).list(namespace)
      const mine = known.filter(({ metadata }) => metadata.generateName === 'mine-')
      for (let count = mine.length; count < 3; count++) {
        const metadata = { generateName: 'mine-', namespace }
        await context
          .client(resources.configMaps)
          .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, signal)
      }
      looks.push(mine.length)
    },
  }
  const scope = new AbortController()
  const events = createEventSink(cluster, deps)
  await cluster.resource(resources.configMaps).create(configMap('trigger'), scope.signal)
  const running = [
    informers.run(scope.signal).catch(() => undefined),
    runController(definition, { ...deps, cluster, informers, events }, scope.signal).catch(
      () => undefined,
    ),
  ]
  const seen: number[] = []
  for await (const count of looks) {
    seen.push(count)
    if (seen.length === 2) break
  }
  transport.release()
  const all = await cluster.resource(resources.configMaps).list({ namespace }, scope.signal)
  const mine = all.items.filter(({ metadata }) => metadata.generateName === 'mine-')
  assert.equal(mine.length, 3)
  assert.deepEqual(seen, [0, 3])
  scope.abort(new Error('test ended'))
  await Promise.all(running)
})

test('a failed reconcile is tried again, and the error of one key does not stop another', async () => {
  await using api = await startTestApiServer()
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'test' })
  const informers = createInformerSet(cluster, deps)
  const scope = new AbortController()
  const done = Promise.withResolvers<void>()
  const tries: string[] = []
  const definition: ControllerDefinition = {
    name: 'flaky',
    watches: [watch(resources.configMaps, { keysOf: ({ object }) => [keyOfObject(object)] })],
    reconcile(key) {
      tries.push(key)
      const isThird = tries.filter((each) => each === 'default/bad').length === 3
      if (isThird && tries.includes('default/good')) done.resolve()
      if (key === 'default/bad') return Promise.reject(new Error('still bad'))
      return Promise.resolve()
    },
  }
  for (const name of ['bad', 'good']) {
    await cluster.resource(resources.configMaps).create(configMap(name), scope.signal)
  }
  const events = createEventSink(cluster, deps)
  const running = [
    informers.run(scope.signal).catch(() => undefined),
    runController(definition, { ...deps, cluster, informers, events }, scope.signal).catch(
      () => undefined,
    ),
  ]
  await done.promise
  assert.equal(tries.filter((each) => each === 'default/good').length, 1)
  scope.abort(new Error('test ended'))
  await Promise.all(running)
})

/** Runs a controller of config maps against a server that has two of them, `bad` and `good`. */
async function withBadAndGood(
  log: Logger,
  reconcile: (key: string) => Promise<void>,
  act: (client: ClusterClient, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await using api = await startTestApiServer()
  const deps = { clock: systemClock, random: systemRandom, log }
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'test' })
  const informers = createInformerSet(cluster, deps)
  const scope = new AbortController()
  const definition: ControllerDefinition = {
    name: 'judge',
    workers: 1,
    watches: [watch(resources.configMaps, { keysOf: ({ object }) => [keyOfObject(object)] })],
    reconcile,
  }
  for (const name of ['bad', 'good']) {
    await cluster.resource(resources.configMaps).create(configMap(name), scope.signal)
  }
  const events = createEventSink(cluster, deps)
  const running = [
    informers.run(scope.signal).catch(() => undefined),
    runController(definition, { ...deps, cluster, informers, events }, scope.signal).catch(
      () => undefined,
    ),
  ]
  await act(cluster, scope.signal)
  scope.abort(new Error('test ended'))
  await Promise.all(running)
}

interface Line {
  readonly level: string
  readonly message: string
  readonly key?: string
  readonly error?: string
  readonly stack?: string
}

function linesOf(lines: Line[]): Logger {
  // Each line is one object that createLogger wrote.
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line)
  return createLogger({ level: 'debug', destination: { write } })
}

test('an object whose error is terminal is looked at again when it changes, and not before', async () => {
  const lines: Line[] = []
  const tries: string[] = []
  const looks = new BoundedQueue<string>(100)
  const reconcile = (key: string): Promise<void> => {
    tries.push(key)
    looks.push(key)
    if (key !== 'default/bad') return Promise.resolve()
    return Promise.reject(new TerminalError('Cannot judge: it says nothing'))
  }
  await withBadAndGood(linesOf(lines), reconcile, async (cluster, signal) => {
    const untilSeen = async (wanted: string): Promise<void> => {
      for await (const key of looks) if (key === wanted) return
    }
    const configMaps = cluster.resource(resources.configMaps)
    await untilSeen('default/bad')
    // An ordinary error would be retried after 5 ms, so several retries would come before the tenth write is seen.
    for (let write = 0; write < 10; write += 1) {
      const patch = { data: { write: String(write) } }
      await configMaps.patch({ namespace, name: 'good', type: 'merge', patch }, signal)
      await untilSeen('default/good')
    }
    assert.equal(tries.filter((key) => key === 'default/bad').length, 1)
    const patch = { data: { says: 'something' } }
    await configMaps.patch({ namespace, name: 'bad', type: 'merge', patch }, signal)
    await untilSeen('default/bad')
  })
  const told = lines.filter(({ key }) => key === 'default/bad')
  assert.deepEqual(
    told.map(({ level, message, error }) => [level, message, error]),
    Array.from({ length: 2 }, () => [
      'info',
      'Reconcile failed until the object changes',
      'Cannot judge: it says nothing',
    ]),
  )
})

test('a mistake of the program is an error line with its place, and its key is tried again', async () => {
  const lines: Line[] = []
  const again = Promise.withResolvers<void>()
  let tries = 0
  const reconcile = (key: string): Promise<void> => {
    if (key !== 'default/bad') return Promise.resolve()
    tries += 1
    if (tries > 2) return Promise.resolve(again.resolve())
    if (tries > 1) return Promise.reject(new Error('the server is away'))
    // This imitates a program that relies on a field which the API does not promise.
    const nothing: Partial<ConfigMap> = {}
    return Promise.resolve().then(() => void (nothing as ConfigMap).metadata.name)
  }
  await withBadAndGood(linesOf(lines), reconcile, () => again.promise)
  const told = lines.filter(({ key }) => key === 'default/bad')
  assert.deepEqual(
    told.map(({ level, message }) => [level, message]),
    [
      ['error', 'Reconcile broke an invariant'],
      ['info', 'Reconcile failed'],
    ],
  )
  assert.match(told[0]?.stack ?? '', /TypeError.*\n.*controller\.test\.ts/)
})
