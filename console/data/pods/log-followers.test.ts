import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { BrowserClock } from '../browser/browser-clock.ts'
import type { FollowDeps } from './follow-log.ts'
import { LogFollowers } from './log-followers.ts'
import type { LogSource } from './log-path.ts'
import { LogTail } from './log-tail.ts'

/** Its time never passes. */
const clock: BrowserClock = {
  nowMs: () => 0,
  after: () => ({ cancel: () => undefined }),
  onFrame: () => ({ cancel: () => undefined }),
  limit: () => new AbortController().signal,
}

const source = (name: string): LogSource => ({ name, container: 'c', path: `/${name}` })

test('a pod that comes is followed as well, one that goes leaves its lines, and the others go on', async () => {
  const asked: string[] = []
  const open = new Set<string>()
  const deps: FollowDeps = {
    clock,
    ask: async (path, signal) => {
      const name = path.slice(1, path.indexOf('?'))
      asked.push(name)
      open.add(name)
      signal.addEventListener('abort', () => open.delete(name))
      const begin = new TextEncoder().encode(`2026-01-01T00:00:00Z from ${name}\n`)
      return new Response(new ReadableStream({ start: (controller) => controller.enqueue(begin) }))
    },
    onChange: () => undefined,
    onError: () => undefined,
    gapText: 'gap',
  }
  const tail = new LogTail()
  const wish = { isFollowing: true, isPrevious: false, tailLines: 10 }
  const followers = new LogFollowers(tail, wish, deps)
  followers.follow([source('a'), source('b')])
  await turn()
  followers.follow([source('b'), source('c')])
  await turn()
  assert.deepEqual(asked, ['a', 'b', 'c'])
  assert.deepEqual([...open], ['b', 'c'])
  assert.deepEqual(tail.lines.map(({ text }) => text).toSorted(), ['from a', 'from b', 'from c'])
  followers.stop()
  assert.equal(open.size, 0)
})
