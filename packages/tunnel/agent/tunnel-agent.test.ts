import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { seededRandom, silentLogger, simulatedClock } from '@skerry/base'
import type { AgentSession, TunnelHandler } from '../session/agent-session.ts'
import { acceptTunnel, type TunnelSession } from '../session/hub-session.ts'
import { createTunnelScene, type TunnelScene } from '../testing/tunnel-scene.ts'
import { memoryLinks } from '../testing/memory-link.ts'
import { dialTunnel, runTunnelAgent, type TunnelAgentState } from './tunnel-agent.ts'
import { TunnelDialError } from '../web-socket/tunnel-dial-error.ts'
import { TunnelClosedError } from '../frame/tunnel-message.ts'
import { TunnelUnavailableError } from '../hub/tunnel-registry.ts'

const never = new AbortController().signal
const get = { method: 'GET', path: '/', headers: {} }
const log = silentLogger

function answering(text: string): TunnelHandler {
  const answer = async () => ({
    status: 200,
    headers: {},
    body: Readable.from([Buffer.from(text)]),
  })
  return { onRequest: answer, onUpgrade: answer }
}

/** A request that gets no answer until its signal aborts. */
const silent: TunnelHandler = {
  onRequest: (_request, signal) => untilAborted(signal),
  onUpgrade: (_request, signal) => untilAborted(signal),
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

test('a cut link ends both ends and everything that waits on them, with a reason', async () => {
  await using scene = await createTunnelScene({ viaRelay: true })
  const { hub, agent } = await scene.connect(silent)
  const waiting = hub.send(get, never)
  await hub.ping(never)
  scene.relay.cut()
  await assert.rejects(waiting, (error) => {
    assert.ok(error instanceof TunnelClosedError, String(error))
    return error.isSent
  })
  assert.match(await hub.closed, /ECONNRESET|connection was cut/)
  assert.match(await agent.closed, /ECONNRESET|connection was cut/)
  await assert.rejects(hub.send(get, never), TunnelClosedError)
})

test('a link that went silent is found within 30 s by both ends, without traffic', async () => {
  await using scene = await createTunnelScene({ viaRelay: true })
  const { hub, agent } = await scene.connect(silent)
  await hub.ping(never)
  scene.relay.blackHole()
  await scene.clock.advance(20_000)
  assert.ok(hub.isOpen, 'two lost pings are not a reason yet')
  await scene.clock.advance(9_900)
  assert.match(await hub.closed, /nothing heard for 2\d s/)
  assert.match(await agent.closed, /nothing heard for 2\d s/)
})

test('an idle link that answers pings stays', async () => {
  await using scene = await createTunnelScene()
  const { hub, agent } = await scene.connect(answering('ok'))
  for (let seconds = 0; seconds < 300; seconds += 5) {
    await scene.clock.advance(5_000)
    await hub.ping(never)
  }
  assert.ok(hub.isOpen)
  assert.equal(agent.rttMs !== undefined, true)
})

test('an agent without a certificate is refused with the hub’s status', async () => {
  await using scene = await createTunnelScene()
  const { url, tls } = await scene.endpoint()
  const anonymous = { url, tls: { ca: tls?.ca ?? '' } }
  const dialing = dialTunnel(anonymous, silent, { clock: scene.clock, log }, never)
  await assert.rejects(dialing, (error) => {
    assert.ok(error instanceof TunnelDialError, String(error))
    assert.match(error.message, /the hub answered 401/)
    return error.status === 401
  })
  assert.equal(scene.registry.size, 0)
})

test('a hub with another CA is not trusted', async () => {
  await using scene = await createTunnelScene()
  await using other = await createTunnelScene()
  const { url } = await scene.endpoint()
  const { tls } = await other.endpoint()
  const dialing = dialTunnel({ url, tls: tls ?? {} }, silent, { clock: scene.clock, log }, never)
  await assert.rejects(dialing, /Cannot trust localhost.*(self-signed|unable to verify|signature)/)
})

test('above its rate the hub says when agents may come back', async () => {
  await using scene = await createTunnelScene({ server: { acceptsPerSecond: 1 } })
  await scene.connect(silent)
  await assert.rejects(scene.connect(silent), (error) => {
    assert.ok(error instanceof TunnelDialError, String(error))
    assert.deepEqual([error.status, error.retryAfterMs], [503, 1_000])
    return true
  })
  await scene.clock.advance(1_000)
  await scene.connect(silent)
})

test('requests go to the newest agent and to the next one when it ends', async () => {
  await using scene = await createTunnelScene()
  const ask = async (): Promise<string> => {
    const { body } = await scene.registry.send('site-1', get, never)
    return Buffer.concat(await Array.fromAsync(body)).toString()
  }
  await scene.connect(answering('older'))
  const { hub } = await scene.connect(answering('newer'))
  assert.equal(await ask(), 'newer')
  hub.close('moved away')
  await hub.closed
  assert.equal(await ask(), 'older')
  scene.registry.closeIdentity('site-1', 'certificate revoked')
  await assert.rejects(ask(), (error) => {
    assert.ok(error instanceof TunnelUnavailableError || error instanceof TunnelClosedError)
    return /certificate revoked/.test(error.message)
  })
})

test('a read that was under way when its agent died goes to the next one', async () => {
  await using scene = await createTunnelScene()
  await scene.connect(answering('rescued'))
  const { hub } = await scene.connect(silent)
  const asking = scene.registry.send('site-1', get, never)
  const writing = scene.registry.send('site-1', { ...get, method: 'POST' }, never)
  const writingEnds = assert.rejects(writing, TunnelClosedError)
  await hub.ping(never)
  hub.close('gone')
  assert.equal(Buffer.concat(await Array.fromAsync((await asking).body)).toString(), 'rescued')
  await writingEnds
})

test('an identity that never came is distinguished from one that left', async () => {
  await using scene = await createTunnelScene()
  await assert.rejects(scene.registry.send('site-9', get, never), /has not connected yet/)
})

const seed = 4_242
test(`an agent comes back by itself after every kind of failure (seed ${seed})`, async () => {
  const clock = simulatedClock()
  const random = seededRandom(seed)
  const states: TunnelAgentState[] = []
  const hubs: TunnelSession[] = []
  let isDown = false
  const dial = async () => {
    if (isDown) throw new TunnelDialError('Cannot connect to hub', {})
    const { near, far } = memoryLinks()
    hubs.push(acceptTunnel(far, {}, { clock, log }))
    return near
  }
  const abort = new AbortController()
  const options = {
    endpoint: () => ({ url: 'wss://hub/tunnel' }),
    onState: (state: TunnelAgentState) => void states.push(state),
  }
  const running = runTunnelAgent(
    options,
    answering('ok'),
    { clock, log, random, dial },
    abort.signal,
  )
  for (let outage = 0; outage < 20; outage += 1) {
    await clock.advance(1_000)
    const hub = hubs.at(-1)
    assert.ok(hub?.isOpen, `no tunnel after outage ${outage}`)
    isDown = random.next() < 0.5
    hub.close(`outage ${outage}`)
    await clock.advance(random.next() * 600_000)
    isDown = false
    // The longest pause is 4.5 s, however long the outage was.
    await clock.advance(4_600)
  }
  const reasons = states.flatMap((state) => (state.state === 'waiting' ? [state.reason] : []))
  assert.ok(reasons.includes('outage 0') && reasons.includes('Cannot connect to hub'))
  abort.abort(new Error('stop'))
  await assert.rejects(running, /stop/)
})

test('a broken link is dialled every second for a minute, then every few', async () => {
  const clock = simulatedClock()
  const dials: number[] = []
  let hub: TunnelSession | undefined
  const dial = async () => {
    dials.push(clock.monotonicMs())
    if (hub) throw new TunnelDialError('Cannot connect to hub', {})
    const { near, far } = memoryLinks()
    hub = acceptTunnel(far, {}, { clock, log })
    return near
  }
  const abort = new AbortController()
  const deps = { clock, log, random: seededRandom(7), dial }
  const options = { endpoint: () => ({ url: 'wss://hub/tunnel' }) }
  const running = runTunnelAgent(options, silent, deps, abort.signal)
  const ends = assert.rejects(running, /stop/)
  await clock.advance(600_000)
  const brokeMs = clock.monotonicMs()
  hub?.close('cut')
  await clock.advance(300_000)
  abort.abort(new Error('stop'))
  await ends
  const gaps = dials.slice(1).map((ms, index) => [ms, ms - Math.max(brokeMs, dials[index] ?? 0)])
  const longest = (from: number, to: number): number =>
    Math.max(...gaps.flatMap(([ms = 0, gap = 0]) => (ms >= from && ms < to ? [gap] : [])))
  assert.ok((gaps[0]?.[1] ?? Infinity) <= 500, 'the first dial is made at once')
  assert.ok(longest(brokeMs, brokeMs + 60_000) <= 1_000)
  assert.ok(longest(brokeMs + 65_000, Infinity) > 1_000, 'it goes on more slowly')
  assert.ok(longest(brokeMs, Infinity) <= 4_500)
})

test('a refused agent asks again rarely, and at the time that the hub names', async () => {
  const clock = simulatedClock()
  const dials: number[] = []
  const dial = async () => {
    dials.push(clock.monotonicMs())
    throw new TunnelDialError('Cannot open tunnel', { status: 503, retryAfterMs: 60_000 })
  }
  const abort = new AbortController()
  const deps = { clock, log, random: seededRandom(1), dial }
  const options = { endpoint: () => ({ url: 'wss://hub/tunnel' }) }
  const running = runTunnelAgent(options, silent, deps, abort.signal)
  await clock.advance(600_000)
  abort.abort(new Error('stop'))
  await assert.rejects(running, /stop/)
  assert.ok(dials.length >= 5 && dials.length <= 11, `${dials.length} dials in ten minutes`)
})

test('a hub that drains gets the next tunnel before the old one ends', async () => {
  const clock = simulatedClock()
  const hubs: TunnelSession[] = []
  const dial = async () => {
    const { near, far } = memoryLinks()
    hubs.push(acceptTunnel(far, {}, { clock, log }))
    return near
  }
  const abort = new AbortController()
  const deps = { clock, log, random: seededRandom(1), dial }
  const options = { endpoint: () => ({ url: 'wss://hub/tunnel' }) }
  const running = runTunnelAgent(options, silent, deps, abort.signal)
  await clock.advance(15_000)
  const [first] = hubs
  const openEnds = assert.rejects(first?.send(get, never) ?? Promise.resolve(), TunnelClosedError)
  await clock.advance(0)
  first?.drain('the hub restarts')
  for (let turn = 0; turn < 20; turn += 1) await clock.advance(0)
  assert.equal(hubs.length, 2)
  assert.equal(first?.streams, 1)
  await clock.advance(30_000)
  await openEnds
  abort.abort(new Error('stop'))
  await assert.rejects(running, /stop/)
})

const endings: readonly {
  what: string
  end: (scene: TunnelScene, ends: { hub: TunnelSession; agent: AgentSession }) => unknown
  words: RegExp
}[] = [
  { what: 'a cut link', end: (scene) => scene.relay.cut(), words: /ECONNRESET|connection was cut/ },
  { what: 'the hub’s close', end: (_, { hub }) => hub.close('revoked'), words: /revoked/ },
  {
    what: 'the agent’s close',
    end: (_, { agent }) => agent.close('agent stops'),
    words: /agent stops/,
  },
  {
    what: 'a drain that took too long',
    end: async (scene, { hub }) => {
      hub.drain('restart')
      await scene.clock.advance(30_000)
    },
    words: /restart/,
  },
]
for (const { what, end, words } of endings) {
  for (const reader of ['waits', 'is late'] as const) {
    test(`${what} never makes half a body look whole (reader ${reader})`, async () => {
      await using scene = await createTunnelScene({ viaRelay: true })
      const body = new PassThrough()
      const onRequest = async () => ({ status: 200, headers: {}, body })
      const ends = await scene.connect({ onRequest, onUpgrade: onRequest })
      body.write('half')
      const response = await ends.hub.send(get, never)
      const unread = await ends.hub.send(get, never)
      const reading = reader === 'waits' ? Array.fromAsync(response.body) : undefined
      reading?.catch(() => undefined)
      await ends.hub.ping(never)
      await end(scene, ends)
      await ends.hub.closed
      await assert.rejects(reading ?? Array.fromAsync(response.body), words)
      await assert.rejects(Array.fromAsync(unread.body), words)
      assert.match(await ends.agent.closed, words)
    })
  }
}
