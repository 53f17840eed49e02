import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '@skerry/base'
import type { Event } from '@skerry/api'
import { simulatedClock } from '@skerry/testing'
import { createCluster } from './cluster.ts'
import { createEventSink, type EventText } from './event-recorder.ts'
import { scriptedTransport } from './testing/scripted-transport.ts'

const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'a', uid: 'u' },
}

/** Returns the requests that the server received for these texts, one line each. */
async function record(texts: readonly EventText[]): Promise<string[]> {
  const clock = simulatedClock()
  const stored = new Map<string, Event>()
  const lines: string[] = []
  const transport = scriptedTransport(({ method, path, body }) => {
    const sent: Event = JSON.parse(Buffer.from(body ?? []).toString('utf8'))
    const name = sent.metadata?.name ?? path.split('/').at(-1) ?? ''
    stored.set(name, { ...stored.get(name), ...sent })
    lines.push(`${method} ${sent.count} ${sent.message}`)
    return { body: { ...stored.get(name) } }
  })
  const deps = { clock, log: silentLogger }
  const sink = createEventSink(createCluster(transport, { ...deps, userAgent: 'test' }), deps)
  const recorder = sink.recorder({ component: 'test-controller' })
  for (const text of texts) recorder.event(web, text)
  const controller = new AbortController()
  const running = sink.run(controller.signal).catch(() => undefined)
  while (lines.length < texts.length && lines.length < 25) {
    const before = lines.length
    await clock.advance(0)
    if (lines.length === before) break
  }
  await clock.advance(0)
  controller.abort(new Error('test ended'))
  await running
  return lines
}

const text = (message: string): EventText => ({ type: 'Normal', reason: 'Scaled', message })

test('repeated events are counted on one event', async () => {
  assert.deepEqual(await record([text('up'), text('up'), text('down'), text('up')]), [
    'POST 1 up',
    'PATCH 2 up',
    'POST 1 down',
    'PATCH 3 up',
  ])
})

test('events that differ only in their message are combined from the tenth on', async () => {
  const lines = await record(Array.from({ length: 12 }, (_, index) => text(`pod ${index}`)))
  assert.deepEqual(lines.slice(8), [
    'POST 1 pod 8',
    'POST 1 (combined from similar events): pod 9',
    'PATCH 2 (combined from similar events): pod 10',
    'PATCH 3 (combined from similar events): pod 11',
  ])
})

test('one object does not flood the server', async () => {
  const lines = await record(Array.from({ length: 60 }, () => text('again')))
  assert.equal(lines.length, 25)
})
