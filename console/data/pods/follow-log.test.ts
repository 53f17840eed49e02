import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserClock } from '../browser/browser-clock.ts'
import { followLog } from './follow-log.ts'
import { HubError } from '../hub/hub-error.ts'
import { LogTail } from './log-tail.ts'

/** Its time passes at once. */
const clock: BrowserClock = {
  nowMs: () => 0,
  after: (_, call) => {
    queueMicrotask(call)
    return { cancel: () => undefined }
  },
  onFrame: () => ({ cancel: () => undefined }),
  limit: () => new AbortController().signal,
}

const source = { name: 'p/c', container: 'c', path: '/log' }
const away = new HubError('no tunnel', { code: 503, reason: 'ServiceUnavailable' })

/** Follows a log whose answers are these texts and errors, and then empty ones. */
async function follow(answers: readonly (string | HubError)[], isPrevious = false) {
  const tail = new LogTail()
  const asked: string[] = []
  const left = [...answers]
  const deps = {
    clock,
    ask: async (path: string): Promise<Response> => {
      asked.push(new URL(path, 'https://hub').searchParams.get('sinceTime') ?? 'tail')
      const next = left.shift() ?? ''
      if (next instanceof HubError) throw next
      return new Response(next)
    },
    onChange: () => undefined,
    onError: () => undefined,
    gapText: 'gap',
  }
  const wish = { isFollowing: true, isPrevious, tailLines: 10 }
  await followLog(tail, { source, wish }, deps, new AbortController().signal)
  return { texts: tail.lines.map(({ text }) => text), asked }
}

const line = (second: number): string => `2026-01-01T00:00:0${second}Z line ${second}\n`

test('a log goes on where it stopped, with one mark for each break', async () => {
  const { texts, asked } = await follow([line(1), away, away, line(1) + line(2)])
  assert.deepEqual(texts, ['line 1', 'gap', 'line 2'])
  assert.deepEqual(asked.slice(0, 4), ['tail', ...Array(3).fill('2026-01-01T00:00:01Z')])
})

test('the end of an answer is not the end of the log until it is asked for again in vain', async () => {
  const { texts, asked } = await follow([line(1), line(2)])
  assert.deepEqual(texts, ['line 1', 'line 2'])
  assert.equal(asked.length, 5)
})

test('a container that has not started is asked again until it has', async () => {
  const starting = new HubError('waiting to start: ContainerCreating', {
    code: 400,
    reason: 'BadRequest',
  })
  const { texts, asked } = await follow([starting, starting, line(1)])
  assert.deepEqual(texts, ['line 1'])
  assert.deepEqual(asked.slice(0, 4), ['tail', 'tail', 'tail', '2026-01-01T00:00:01Z'])
  assert.equal((await follow([starting], true)).asked.length, 1)
})

test('a refusal and the log of a previous run end it', async () => {
  const forbidden = new HubError('no', { code: 403, reason: 'Forbidden' })
  assert.equal((await follow([forbidden])).asked.length, 1)
  assert.equal((await follow([line(1)], true)).asked.length, 1)
})
