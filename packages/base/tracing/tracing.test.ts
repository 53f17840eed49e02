import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '../metrics.ts'
import { silentLogger } from '../log.ts'
import { seededRandom } from '../random.ts'
import { simulatedClock } from '../simulated-clock.ts'
import { SpanQueue, type SpanExporter } from './span-queue.ts'
import { createTracer, type SpanData } from './span.ts'
import { readTraceContext, traceHeaders } from './trace-context.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

const parents: readonly { text: string; is?: 'sampled' | 'not sampled' }[] = [
  { text: `00-${traceId}-${spanId}-01`, is: 'sampled' },
  { text: `00-${traceId}-${spanId}-00`, is: 'not sampled' },
  { text: `00-${traceId}-${spanId}-03`, is: 'sampled' },
  { text: `cc-${traceId}-${spanId}-01-what-the-future-brings`, is: 'sampled' },
  { text: `00-${traceId}-${spanId}-01-more` },
  { text: `ff-${traceId}-${spanId}-01` },
  { text: `00-${traceId.toUpperCase()}-${spanId}-01` },
  { text: `00-${'0'.repeat(32)}-${spanId}-01` },
  { text: `00-${traceId}-${'0'.repeat(16)}-01` },
  { text: `00-${traceId}-${spanId}` },
  { text: '' },
]
test('a traceparent is read as the recommendation defines it, and a malformed one is ignored', () => {
  for (const { text, is } of parents) {
    const context = readTraceContext(text, 'vendor=1')
    assert.equal(context !== undefined, is !== undefined, text)
    if (context) assert.equal(context.isSampled, is === 'sampled', text)
  }
  const context = readTraceContext(`00-${traceId}-${spanId}-01`, 'vendor=1')
  assert.ok(context)
  assert.deepEqual(traceHeaders(context), {
    traceparent: `00-${traceId}-${spanId}-01`,
    tracestate: 'vendor=1',
  })
  assert.equal(readTraceContext(`00-${traceId}-${spanId}-01`, 'x'.repeat(513))?.state, '')
})

function tracerOf(sampledPart: number) {
  const spans: SpanData[] = []
  const deps = { clock: simulatedClock(), random: seededRandom(7) }
  const onEnd = (span: SpanData): void => void spans.push(span)
  return { spans, tracer: createTracer(sampledPart, { ...deps, onEnd }) }
}

test('a part of the new traces is sampled; others follow their parent', () => {
  const { spans, tracer } = tracerOf(0.25)
  for (let count = 0; count < 2_000; count += 1) tracer.start('root').end()
  assert.ok(spans.length > 400 && spans.length < 600, `${spans.length} of 2,000`)
  const never = tracerOf(0)
  const parent = readTraceContext(`00-${traceId}-${spanId}-01`, undefined)
  assert.ok(parent)
  const span = never.tracer.start('asked for', { parent })
  const child = span.child('a part of it')
  child.end()
  span.end()
  span.end()
  assert.deepEqual(
    never.spans.map(({ name, context, parentSpanId }) => [name, context.traceId, parentSpanId]),
    [
      ['a part of it', traceId, span.context.spanId],
      ['asked for', traceId, spanId],
    ],
  )
  never.tracer.start('not asked for').end()
  assert.equal(never.spans.length, 2)
  const always = tracerOf(1)
  always.tracer.start('unwanted', { parent: { ...parent, isSampled: false } }).end()
  assert.equal(always.spans.length, 0)
})

function queueOf(exporter: SpanExporter['export']) {
  const clock = simulatedClock()
  const metrics = createMetrics()
  const { tracer, spans } = tracerOf(1)
  const queue = new SpanQueue(
    { export: exporter, [Symbol.dispose]: () => undefined },
    { clock, log: silentLogger, metrics },
  )
  const push = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      tracer.start('work').end()
      queue.push(spans.pop() ?? assert.fail('it is sampled'))
    }
  }
  const counted = async (result: string): Promise<number> => {
    const [, value = '0'] =
      new RegExp(`skerry_trace_spans_total{result="${result}"} (\\d+)`).exec(
        await metrics.text(),
      ) ?? []
    return Number(value)
  }
  return { clock, queue, push, counted }
}

test('spans go out in batches, and those that wait at the end go too', async () => {
  const batches: number[] = []
  const { clock, queue, push, counted } = queueOf(async (spans) => void batches.push(spans.length))
  push(3)
  await clock.advance(4_000)
  assert.deepEqual(batches, [])
  await clock.advance(1_500)
  assert.deepEqual(batches, [3])
  // A full batch is sent without waiting.
  push(1)
  await clock.advance(0)
  push(999)
  await clock.advance(0)
  assert.deepEqual(batches, [3, 512, 488])
  push(7)
  await queue[Symbol.asyncDispose]()
  assert.deepEqual(batches, [3, 512, 488, 7])
  assert.equal(await counted('exported'), 1_010)
})

test('a collector that takes nothing costs a bounded queue, and its end is not waited for', async () => {
  const { clock, queue, push, counted } = queueOf(
    (_spans, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
  )
  push(10_000)
  assert.equal(await counted('dropped'), 10_000 - 2_048)
  const ended = queue[Symbol.asyncDispose]()
  await clock.advance(2_000)
  await ended
  assert.equal(await counted('dropped'), 10_000)
})

test('a collector that refuses loses its batch and no other', async () => {
  let calls = 0
  const { clock, queue, push, counted } = queueOf(async () => {
    calls += 1
    if (calls === 1) throw new Error('no')
  })
  push(600)
  await clock.advance(6_000)
  await queue[Symbol.asyncDispose]()
  assert.deepEqual([await counted('dropped'), await counted('exported')], [512, 88])
})
