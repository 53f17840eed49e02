import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { readBody, type Transport, type TransportRequest } from '@skerry/client'
import { TunnelClosedError, WholeBody, type AgentSession } from '@skerry/tunnel'
import { HubTunnels } from './hub-tunnels.ts'

const get: TransportRequest = { method: 'GET', path: '/version', headers: {} }
const watch: TransportRequest = { method: 'GET', path: '/api/v1/pods?watch=true', headers: {} }
const never = new AbortController().signal

/** An open tunnel that answers with its name; `end` ends it. */
function tunnelOf(name: string, { status = 200, takesRequests = true, isPresence = true } = {}) {
  const closed = Promise.withResolvers<string>()
  const state = { isOpen: true }
  const session: Partial<AgentSession> = {
    closed: closed.promise,
    draining: new Promise(() => undefined),
    isPresence,
    takesRequests: () => takesRequests && state.isOpen,
    async send() {
      if (!state.isOpen) throw new TunnelClosedError('it ended', { isSent: false })
      return { status, headers: {}, body: new WholeBody(Buffer.from(name)) }
    },
  }
  return {
    // The parts that HubTunnels uses.
    state: { state: 'connected', session: session as AgentSession } as const,
    async end() {
      state.isOpen = false
      closed.resolve('cut')
      await closed.promise
    },
  }
}

const overHttps: Transport = {
  send: async () => ({ status: 200, headers: {}, body: new WholeBody(Buffer.from('https')) }),
}

function startTunnels() {
  const clock = simulatedClock()
  const tunnels = new HubTunnels(overHttps, clock)
  const ask = async (request = get): Promise<string> => {
    const { body } = await tunnels.transport.send(request, never)
    return (await readBody(body)).toString()
  }
  /** Returns which way a request has gone after each of these times, or that it waits. */
  const waysAfter = async (request: TransportRequest, ...times: number[]): Promise<string[]> => {
    let way = 'waits'
    const asked = ask(request).then((text) => void (way = text))
    const seen: string[] = []
    for (const ms of times) {
      await clock.advance(ms)
      await Promise.race([asked, new Promise((resolve) => setImmediate(resolve))])
      seen.push(way)
    }
    return seen
  }
  return { clock, tunnels, ask, waysAfter }
}

test('requests take the tunnel of a hub that answers there, and else a connection of their own', async () => {
  const { tunnels, ask } = startTunnels()
  tunnels.onState(tunnelOf('old hub', { takesRequests: false, isPresence: false }).state)
  assert.equal(await ask(), 'https')
  assert.equal(tunnels.isPresent(), false)
  const newer = startTunnels()
  newer.tunnels.onState(tunnelOf('tunnel').state)
  assert.equal(await newer.ask(), 'tunnel')
  assert.equal(newer.tunnels.isPresent(), true)
})

test('requests wait for the first tunnel, and not after it could not be opened', async () => {
  const waiting = startTunnels()
  assert.deepEqual(await waiting.waysAfter(get, 9_999, 1), ['waits', 'https'])
  assert.deepEqual(await waiting.waysAfter(watch, 19_999, 1), ['waits', 'https'])
  const refused = startTunnels()
  refused.tunnels.onState({ state: 'dialing' })
  refused.tunnels.onState({ state: 'waiting', retryMs: 1_000, reason: 'a proxy refuses it' })
  assert.equal(await refused.ask(), 'https')
})

test('after a tunnel has ended requests wait for the next one, watches longer than others', async () => {
  const { tunnels, waysAfter } = startTunnels()
  const first = tunnelOf('first')
  tunnels.onState(first.state)
  await first.end()
  assert.deepEqual(await waysAfter(get, 19_000, 1_000), ['waits', 'https'])
  assert.deepEqual(await waysAfter(watch, 99_000, 1_000), ['waits', 'https'])
  const again = startTunnels()
  const lost = tunnelOf('lost')
  again.tunnels.onState(lost.state)
  await lost.end()
  const ways = again.waysAfter(watch, 1_000, 1_000)
  again.tunnels.onState(tunnelOf('second').state)
  assert.deepEqual((await ways).at(-1), 'second')
})

test('an agent is present while its tunnels are signs of life, and for 20 s more', async () => {
  const { clock, tunnels } = startTunnels()
  const first = tunnelOf('first')
  tunnels.onState(first.state)
  await first.end()
  await clock.advance(19_999)
  assert.equal(tunnels.isPresent(), true)
  await clock.advance(1)
  assert.equal(tunnels.isPresent(), false)
  tunnels.onState(tunnelOf('new').state)
  tunnels.onState(tunnelOf('old', { isPresence: false }).state)
  assert.equal(tunnels.isPresent(), false, 'one of the replicas judges by leases alone')
})

test('a tunnel whose certificate has run out is not asked again', async () => {
  const { tunnels, ask } = startTunnels()
  tunnels.onState(tunnelOf('outdated', { status: 401 }).state)
  assert.deepEqual([await ask(), await ask()], ['https', 'https'])
  tunnels.onState(tunnelOf('newer').state)
  assert.equal(await ask(), 'newer')
})
