import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger } from '@skerry/base'
import type { EventsV1Event, StatusReason } from '@skerry/api'
import { simulatedClock } from '@skerry/testing'
import { createCluster } from './cluster.ts'
import { createEventSeriesSink, type EventNote } from './event-series-sink.ts'
import { scriptedTransport } from './testing/scripted-transport.ts'
import { eventSeriesLimits } from './limits-table.ts'

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'a', uid: 'u', resourceVersion: '7' },
}

/** Starts a sink whose server stores events by name, and lists its requests, one line each. */
async function startWorld() {
  const clock = simulatedClock()
  const stored = new Map<string, EventsV1Event>()
  const lines: string[] = []
  const transport = scriptedTransport(({ method, path, body }) => {
    const sent: EventsV1Event = JSON.parse(Buffer.from(body ?? []).toString('utf8'))
    const name = sent.metadata?.name ?? path.split('/').at(-1) ?? ''
    const known = stored.get(name)
    lines.push(`${method} ${sent.series?.count ?? 1} ${sent.note ?? ''}`.trimEnd())
    if (method === 'PATCH' && known === undefined) return refusal(404, 'NotFound')
    stored.set(name, { ...known, ...sent })
    return { body: { ...known, ...sent } }
  })
  const deps = { clock, random: seededRandom(1), log: silentLogger }
  const sink = createEventSeriesSink(createCluster(transport, { ...deps, userAgent: 'test' }), deps)
  const recorder = sink.recorder({ controller: 'tester', host: 'here' })
  const controller = new AbortController()
  const running = sink.run(controller.signal)
  return {
    stored,
    async pass(ms: number): Promise<string[]> {
      await clock.advance(ms)
      return lines.splice(0)
    },
    async tell(note: string, about = pod): Promise<string[]> {
      recorder.event(about, { ...facts, note })
      return this.pass(0)
    },
    async [Symbol.asyncDispose]() {
      controller.abort(new Error('Test ended'))
      await running
    },
  }
}

const facts: Omit<EventNote, 'note'> = {
  type: 'Warning',
  reason: 'FailedScheduling',
  action: 'Scheduling',
}

function refusal(status: number, reason: StatusReason) {
  const body = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: status, reason }
  return { status, body }
}

test('an event has its time, its reporter and the version of its object', async () => {
  await using world = await startWorld()
  await world.tell('no room')
  const [event] = world.stored.values()
  assert.match(event?.eventTime ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  const { metadata: _name, eventTime: _time, ...rest } = event ?? { metadata: {} }
  assert.deepEqual(rest, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    reportingController: 'tester',
    reportingInstance: 'tester-here',
    ...facts,
    regarding: {
      apiVersion: 'v1',
      kind: 'Pod',
      name: 'web',
      namespace: 'a',
      uid: 'u',
      resourceVersion: '7',
    },
    note: 'no room',
  })
})

test('a repeated event becomes a series, which is written the second time, now and then, and at its end', async () => {
  await using world = await startWorld()
  assert.deepEqual(await world.tell('no room'), ['POST 1 no room'])
  assert.deepEqual(await world.tell('still none'), ['PATCH 2'])
  assert.deepEqual(await world.tell('still none'), [])
  assert.deepEqual(await world.tell('still none'), [])
  assert.deepEqual(await world.pass(eventSeriesLimits.quietMs), [])
  assert.deepEqual(await world.pass(eventSeriesLimits.quietMs), ['PATCH 4'])
  assert.deepEqual(await world.tell('again'), ['POST 1 again'])
})

test('a continuing series is written again every half hour', async () => {
  await using world = await startWorld()
  const every = eventSeriesLimits.quietMs / 2
  const lines: string[] = []
  for (let told = 0; told <= eventSeriesLimits.refreshMs / every; told++) {
    lines.push(...(await world.tell('no room')), ...(await world.pass(every)))
  }
  assert.deepEqual(lines.slice(0, 3), ['POST 1 no room', 'PATCH 2', 'PATCH 10'])
})

test('another version of the object is another event', async () => {
  await using world = await startWorld()
  await world.tell('no room')
  const later = { ...pod, metadata: { ...pod.metadata, resourceVersion: '8' } }
  assert.deepEqual(await world.tell('no room', later), ['POST 1 no room'])
})

test('a series whose event has expired is created again, with its count', async () => {
  await using world = await startWorld()
  await world.tell('no room')
  world.stored.clear()
  assert.deepEqual(await world.tell('no room'), ['PATCH 2', 'POST 2 no room'])
})
