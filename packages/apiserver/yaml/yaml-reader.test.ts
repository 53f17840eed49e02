import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type YamlRequest } from '@skerry/bodies'
import { isStatusError } from '@skerry/api'
import { silentLogger, simulatedClock, systemClock } from '@skerry/base'
import { until } from '@skerry/testing'
import { apiServerLimits } from '../limits-table.ts'
import { YamlReader, type YamlThreadEvents, type YamlThreadAnswer } from './yaml-reader.ts'

const { signal } = new AbortController()
const limits = {
  bytesMax: 3 * 1024 * 1024,
  depthMax: 10_000,
  yamlDepthMax: 500,
  aliasesMax: 100,
  partsMax: 300_000,
  duplicatesMax: 100,
}
const padding = '#'.repeat(apiServerLimits.yamlHereCharactersMax)

/** Returns a text that is too long to be read at once. */
function long(text: string): YamlRequest {
  return { text: `${text}\n${padding}\n`, limits, isStrict: true }
}

/** Opens a reader with threads that answer on command. */
function openReader(limits: Partial<typeof apiServerLimits> = {}) {
  const clock = simulatedClock()
  const threads: { read: string[]; isEnded: boolean; events: YamlThreadEvents }[] = []
  const reader = new YamlReader({
    limits: { ...apiServerLimits, ...limits },
    clock,
    log: silentLogger,
    async startThread(_, events) {
      const thread = { read: [] as string[], isEnded: false, events }
      threads.push(thread)
      return {
        read: ({ text }) => void thread.read.push(text.split('\n')[0] ?? ''),
        end: () => void (thread.isEnded = true),
      }
    },
  })
  const answer: YamlThreadAnswer = { json: '{"a":1}', duplicates: [] }
  return { reader, clock, threads, answer }
}

test('YAML that takes seconds to parse leaves the event loop to others', async () => {
  using reader = new YamlReader({
    limits: apiServerLimits,
    clock: systemClock,
    log: silentLogger,
  })
  const text = `a: ${'[a,'.repeat(5_000)}`
  let isOver = false
  const read = reader.read({ text, limits, isStrict: true }, 'mallory', signal)
  const over = read.then(
    () => assert.fail('It is not YAML'),
    () => void (isOver = true),
  )
  let turns = 0
  for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  await over
  // Starting the thread alone takes hundreds of turns; parsing in this thread would leave only a
  // few.
  assert.ok(turns > 100, `${turns} turns of the event loop`)
})

test('the thread reads texts exactly as the main thread would', async () => {
  using reader = new YamlReader({ limits: apiServerLimits, clock: systemClock, log: silentLogger })
  const { value, duplicates } = await reader.read(long('a: yes\nb: 0755\na: no'), 'alice', signal)
  assert.deepEqual(value, { a: false, b: 493 })
  assert.deepEqual(duplicates, ['yaml: unmarshal errors:\n  line 3: key "a" already set in map'])
  await assert.rejects(reader.read(long('a: b: c'), 'alice', signal), { name: 'YamlError' })
})

test('a text that exceeds its time is refused, and those behind it are read', async () => {
  const { reader, clock, threads, answer } = openReader()
  const greedy = reader.read(long('greedy'), 'mallory', signal)
  const honest = reader.read(long('honest'), 'alice', signal)
  await clock.advance(0)
  assert.deepEqual(threads[0]?.read, ['greedy'])
  const refused = assert.rejects(greedy, (error) => isStatusError(error, 'RequestEntityTooLarge'))
  await clock.advance(apiServerLimits.yamlMs)
  await refused
  assert.equal(threads[0]?.isEnded, true)
  assert.deepEqual(threads[1]?.read, ['honest'])
  threads[1]?.events.onAnswer(answer)
  assert.deepEqual((await honest).value, { a: 1 })
  reader[Symbol.dispose]()
})

test('a text that exceeds its memory is refused', async () => {
  const { reader, clock, threads } = openReader()
  const greedy = reader.read(long('greedy'), 'mallory', signal)
  await clock.advance(0)
  const refused = assert.rejects(greedy, (error) => isStatusError(error, 'RequestEntityTooLarge'))
  const error = Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
  threads[0]?.events.onEnd(error)
  await refused
  reader[Symbol.dispose]()
})

test('users take turns: the one whose texts took the least time is next', async () => {
  const { reader, clock, threads, answer } = openReader()
  const reads = ['one', 'two', 'three'].map((text) => reader.read(long(text), 'mallory', signal))
  await clock.advance(0)
  reads.push(reader.read(long('late'), 'alice', signal))
  for (let at = 0; at < 4; at += 1) {
    await clock.advance(10)
    threads[0]?.events.onAnswer(answer)
  }
  await Promise.all(reads)
  assert.deepEqual(threads[0]?.read, ['one', 'late', 'two', 'three'])
  reader[Symbol.dispose]()
})

test('waiting texts are bounded, for each user and in all', async () => {
  const { reader, clock } = openReader({
    yamlWaitingPerUserMax: 2,
    yamlWaitingCharactersMax: 9_000,
  })
  const settled: Promise<unknown>[] = []
  const read = (owner: string): Promise<unknown> => {
    const reading = reader.read(long('a'), owner, signal)
    settled.push(reading.catch(() => undefined))
    return reading
  }
  void read('mallory').catch(() => undefined)
  await clock.advance(0)
  for (let at = 0; at < 2; at += 1) void read('mallory').catch(() => undefined)
  const isRefusal = (error: unknown): boolean => isStatusError(error, 'TooManyRequests')
  await assert.rejects(read('mallory'), isRefusal)
  for (const owner of ['a', 'b']) void read(owner).catch(() => undefined)
  await assert.rejects(read('c'), isRefusal)
  reader[Symbol.dispose]()
  await Promise.all(settled)
})

test('an idle thread ends, and the next text has another one', async () => {
  const { reader, clock, threads, answer } = openReader()
  const first = reader.read(long('first'), 'alice', signal)
  await clock.advance(0)
  threads[0]?.events.onAnswer(answer)
  await first
  await clock.advance(apiServerLimits.yamlIdleMs)
  assert.equal(threads[0]?.isEnded, true)
  const second = reader.read(long('second'), 'alice', signal)
  await clock.advance(0)
  await until(() => threads[1]?.read[0] === 'second')
  threads[1]?.events.onAnswer(answer)
  await second
  reader[Symbol.dispose]()
})
