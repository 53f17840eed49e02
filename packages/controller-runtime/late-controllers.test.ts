import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger, silentLogger, systemClock, systemRandom, type Logger } from '@skerry/base'
import type { ConfigMap } from '@skerry/api'
import {
  createCluster,
  createEventSink,
  keyOfObject,
  resources,
  type ClusterClient,
} from '@skerry/client'
import { simulatedClock, startTestApiServer, until, type SimulatedClock } from '@skerry/testing'
import { watch, type ControllerDefinition } from './controller.ts'
import { createInformerSet } from './informer-set.ts'
import { lateControllers, type LateControllers } from './late-controllers.ts'

function configMap(name: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } }
}

/** Returns a controller that notes the config maps that it has seen. */
function noting(seen: string[]): ControllerDefinition {
  return {
    name: 'noting',
    watches: [watch(resources.configMaps, { keysOf: ({ object }) => [keyOfObject(object)] })],
    async reconcile(key) {
      seen.push(key)
    },
  }
}

interface Scene {
  readonly load: LateControllers['load']
  readonly clock?: SimulatedClock
  readonly log?: Logger
}

async function withLate(
  { load, clock, log = silentLogger }: Scene,
  act: (create: (name: string) => Promise<unknown>, cluster: ClusterClient) => Promise<void>,
): Promise<void> {
  await using api = await startTestApiServer()
  const deps = { clock: systemClock, random: systemRandom, log }
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'test' })
  const informers = createInformerSet(cluster, deps)
  const scope = new AbortController()
  const late = lateControllers({ name: 'late', triggers: [resources.configMaps], load })
  const events = createEventSink(cluster, deps)
  const parts = { ...deps, clock: clock ?? systemClock, cluster, informers, events }
  const running = [
    informers.run(scope.signal).catch(() => undefined),
    assert.rejects(late.run(parts, scope.signal), { message: 'test ended' }),
  ]
  await informers.whenSynced(scope.signal)
  const configMaps = cluster.resource(resources.configMaps)
  await act((name) => configMaps.create(configMap(name), scope.signal), cluster)
  scope.abort(new Error('test ended'))
  await Promise.all(running)
}

test('code is loaded with the first object, and objects that come while it loads are worked on', async () => {
  const seen: string[] = []
  const asked = Promise.withResolvers<void>()
  const loaded = Promise.withResolvers<void>()
  let loads = 0
  const load: LateControllers['load'] = async () => {
    loads += 1
    asked.resolve()
    await loaded.promise
    return [noting(seen)]
  }
  await withLate({ load }, async (create) => {
    assert.equal(loads, 0, 'there is no object yet')
    await create('first')
    await asked.promise
    await create('second')
    loaded.resolve()
    await until(() => seen.length === 2)
    await create('third')
    await until(() => seen.length === 3)
  })
  assert.deepEqual(seen.toSorted(), ['default/first', 'default/second', 'default/third'])
  assert.equal(loads, 1)
})

test('code that cannot be loaded is an error line, and is loaded again later', async () => {
  const seen: string[] = []
  const lines: Record<string, string>[] = []
  const write = (line: string): void => {
    // Each line is one object that createLogger wrote.
    lines.push(JSON.parse(line) as Record<string, string>)
  }
  const log = createLogger({ level: 'info', destination: { write } })
  const clock = simulatedClock()
  let loads = 0
  const load: LateControllers['load'] = async () => {
    loads += 1
    if (loads === 1) throw new TypeError('Cannot find module')
    return [noting(seen)]
  }
  await withLate({ load, clock, log }, async (create) => {
    await create('first')
    await until(() => lines.some(({ level }) => level === 'error'))
    await clock.advance(10_000)
    await until(() => seen.length === 1)
  })
  const errors = lines.filter(({ level }) => level === 'error')
  assert.deepEqual(
    errors.map(({ message, controllers }) => [message, controllers]),
    [['Cannot load controllers, trying again', 'late']],
  )
  assert.deepEqual(seen, ['default/first'])
  assert.equal(loads, 2)
})

test('a process that stops does not wait for code that is loading', async () => {
  const asked = Promise.withResolvers<void>()
  const load: LateControllers['load'] = () => {
    asked.resolve()
    return new Promise(() => undefined)
  }
  await withLate({ load }, async (create) => {
    await create('first')
    await asked.promise
  })
})
