import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger, simulatedClock } from '@skerry/base'
import type { TunnelHandler } from '../session/agent-session.ts'
import { acceptTunnel, type TunnelSession } from '../session/hub-session.ts'
import type { HubReplica } from './open-tunnels.ts'
import { memoryLinks } from '../testing/memory-link.ts'
import { runTunnelAgent } from './tunnel-agent.ts'
import { TunnelDialError } from '../web-socket/tunnel-dial-error.ts'

const log = silentLogger
const unasked: TunnelHandler = {
  onRequest: () => assert.fail('It must not be asked'),
  onUpgrade: () => assert.fail('It must not be asked'),
}

/** Starts replicas of a hub behind one name, which leads to them as the test decides. */
function startFleet(leadsTo: (dial: number) => string) {
  const clock = simulatedClock()
  const live = new Set(['a', 'b'])
  const sessions = new Map<string, TunnelSession>()
  const tellers: ((replica: HubReplica) => void)[] = []
  const counts: number[] = []
  const dials: number[] = []
  let answering = ''
  const dial = async ({ headers = {} }: { headers?: Readonly<Record<string, string>> }) => {
    answering = leadsTo(dials.length)
    dials.push(clock.monotonicMs())
    if (!live.has(answering)) throw new TunnelDialError('Cannot connect to hub', {})
    if (headers['held']?.split(',').includes(answering)) {
      throw new TunnelDialError('Cannot open tunnel: repeated', { status: 409 })
    }
    const { near, far } = memoryLinks()
    sessions.set(answering, acceptTunnel(far, {}, { clock, log }))
    return near
  }
  const abort = new AbortController()
  const running = runTunnelAgent(
    {
      endpoint: (held) => ({ url: 'wss://hub/tunnel', headers: { held: held.join(',') } }),
      onOpen: (count) => {
        counts.push(count)
        if (count > (counts.at(-2) ?? 0)) tellers.at(-1)?.({ id: answering, count: live.size })
      },
    },
    (onReplica) => {
      tellers.push(onReplica)
      return unasked
    },
    { clock, log, random: seededRandom(3), dial },
    abort.signal,
  )
  const ends = assert.rejects(running, /stop/)
  return {
    clock,
    live,
    sessions,
    counts,
    dials,
    async [Symbol.asyncDispose]() {
      abort.abort(new Error('stop'))
      await ends
    },
  }
}

test('an agent dials one name until it has a tunnel to each replica, and rests then', async () => {
  await using fleet = startFleet((dial) => (dial < 4 ? 'a' : 'b'))
  await fleet.clock.advance(30_000)
  assert.deepEqual([...fleet.sessions.keys()], ['a', 'b'])
  assert.deepEqual(fleet.counts, [1, 2])
  await fleet.clock.advance(3_600_000)
  assert.equal(fleet.dials.length, 5)
})

test('a tunnel that breaks is dialled at once while another one is open', async () => {
  await using fleet = startFleet((dial) => (dial % 2 === 0 ? 'a' : 'b'))
  await fleet.clock.advance(60_000)
  fleet.sessions.get('a')?.close('cut')
  await fleet.clock.advance(5_000)
  assert.deepEqual(fleet.counts, [1, 2, 1, 2])
  assert.ok(fleet.sessions.get('b')?.isOpen)
})

test('where one name always leads to one replica, others are looked for ever less often', async () => {
  await using fleet = startFleet(() => 'a')
  await fleet.clock.advance(60_000)
  assert.ok(fleet.dials.length >= 5, `${fleet.dials.length} dials in a minute`)
  const before = fleet.dials.length
  await fleet.clock.advance(3_600_000)
  const more = fleet.dials.length - before
  assert.ok(more >= 20 && more <= 80, `${more} dials in an hour`)
  // Its only tunnel is dialled again without delay.
  fleet.sessions.get('a')?.close('cut')
  await fleet.clock.advance(2_000)
  assert.deepEqual(fleet.counts.slice(0, 3), [1, 0, 1])
})

test('a hub that says it has ever more replicas is dialled no more than eight times', async () => {
  await using fleet = startFleet((dial) => `replica-${dial}`)
  for (let index = 0; index < 20; index += 1) fleet.live.add(`replica-${index}`)
  await fleet.clock.advance(3_600_000)
  assert.equal(fleet.dials.length, 8)
  assert.deepEqual(fleet.counts, [1, 2, 3, 4, 5, 6, 7, 8])
})
