import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger, simulatedClock } from '@skerry/base'
import type { Transport, TransportRequest } from '@skerry/client'
import { createAuditWebhook, type AuditWebhookOptions } from './audit-webhook.ts'

/** Starts a webhook that answers with these statuses, then with 200. */
function setUp(options: Partial<AuditWebhookOptions>, statuses: number[] = []) {
  const clock = simulatedClock()
  const batches: { kind: string; apiVersion: string; items: unknown[] }[] = []
  let lost = 0
  const transport: Transport = {
    async send({ body }: TransportRequest) {
      const status = statuses.shift() ?? 200
      if (status === 200) batches.push(JSON.parse(Buffer.from(body ?? []).toString()))
      return { status, headers: {}, body: (async function* () {})() }
    },
  }
  const webhook = createAuditWebhook(options, {
    transport,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    lost: { inc: (count = 1) => void (lost += count) },
  })
  const stop = new AbortController()
  return { clock, batches, webhook, stop, lost: () => lost, done: webhook.run(stop.signal) }
}

const numbersOf = (batches: readonly { items: unknown[] }[]) => batches.map(({ items }) => items)

test('events go in batches, when enough wait or the first has waited long enough', async () => {
  const { clock, batches, webhook, stop, done } = setUp({ batchMax: 2, batchMs: 1_000 })
  for (const number of [1, 2, 3]) webhook.write(`${number}\n`)
  await clock.advance(0)
  assert.deepEqual(numbersOf(batches), [[1, 2]])
  assert.equal(batches[0]?.kind, 'EventList')
  assert.equal(batches[0]?.apiVersion, 'audit.k8s.io/v1')
  await clock.advance(500)
  assert.equal(batches.length, 1)
  await clock.advance(1_000)
  assert.deepEqual(numbersOf(batches), [[1, 2], [3]])
  webhook.write('4\n')
  stop.abort()
  await done
  assert.deepEqual(numbersOf(batches).at(-1), [4], 'a stopping server sends what waits')
})

test('a batch is sent again; refused events and events without room are counted', async () => {
  const options = { batchMax: 2, batchMs: 10, bufferMax: 3, retryMs: 100 }
  const { clock, batches, webhook, stop, done, lost } = setUp(options, [503, 200, 400])
  for (const number of [1, 2, 3, 4, 5]) webhook.write(`${number}\n`)
  assert.equal(lost(), 2)
  await clock.advance(400)
  assert.deepEqual(numbersOf(batches), [[1, 2]])
  assert.equal(lost(), 3)
  webhook.write('6\n')
  await clock.advance(400)
  assert.deepEqual(numbersOf(batches), [[1, 2], [6]])
  stop.abort()
  await done
})
