import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { until } from '@skerry/testing'
import { silentLogger, simulatedClock } from '@skerry/base'
import { resetCodes } from './frame/tunnel-frame.ts'
import { TunnelClosedError, WholeBody, type TunnelResponse } from './frame/tunnel-message.ts'
import { tunnelBounds } from './limits-table.ts'
import { serveTunnel, type TunnelHandler } from './session/agent-session.ts'
import { acceptTunnel } from './session/hub-session.ts'
import { Multiplexer } from './session/multiplexer.ts'
import { validateTunnelLimits } from './frame/validate-tunnel-limits.ts'
import { memoryLinks } from './testing/memory-link.ts'
import { createTunnelScene } from './testing/tunnel-scene.ts'

const soon = (): AbortSignal => AbortSignal.timeout(20_000)

function answerOf(text: string): TunnelResponse {
  return { status: 200, headers: {}, body: new WholeBody(Buffer.from(text)) }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const part of body) text += Buffer.from(part).toString()
  return text
}

/** Answers with the request's path and body. */
const echo: TunnelHandler = {
  onRequest: async ({ path, body = new WholeBody(Buffer.alloc(0)) }) =>
    answerOf(`${path} ${body instanceof Uint8Array ? body.toString() : await textOf(body)}`),
  onUpgrade: async () => answerOf('no'),
}

const offering = { offers: ['presence', 'requests'], handlerOf: () => echo } as const

test('a hub that offers it answers its agents over the tunnel that they opened', async () => {
  await using scene = await createTunnelScene({ server: offering })
  const { hub, agent } = await scene.connect(echo)
  assert.ok(agent.takesRequests() && agent.isPresence)
  const body = Buffer.from('a status')
  const asked = [
    agent.send({ method: 'GET', path: '/up', headers: {} }, soon()),
    agent.send({ method: 'PUT', path: '/up/status', headers: {}, body }, soon()),
    hub.send({ method: 'GET', path: '/down', headers: {} }, soon()),
  ]
  const answers = await Promise.all(asked)
  const texts = await Promise.all(answers.map((each) => textOf(each.body)))
  assert.deepEqual(texts, ['/up ', '/up/status a status', '/down '])
})

test('a hub that does not offer it is asked nothing over the tunnel', async () => {
  await using scene = await createTunnelScene()
  const { agent } = await scene.connect(echo)
  assert.deepEqual([agent.takesRequests(), agent.isPresence], [false, false])
  const sent = agent.send({ method: 'GET', path: '/up', headers: {} }, soon())
  await assert.rejects(sent, (error) => error instanceof TunnelClosedError && !error.isSent)
})

test('an agent that opens streams without being invited loses its tunnel', async () => {
  const clock = simulatedClock()
  const { near, far } = memoryLinks()
  const hub = acceptTunnel(near, {}, { clock, log: silentLogger })
  const events = { onGoAway: () => undefined, onFault: () => undefined }
  const rude = new Multiplexer(far, validateTunnelLimits(), events, { clock, end: 'agent' })
  rude.open(['GET', '/up', '', ''], true)
  assert.equal(await hub.closed, 'protocol failed: a request from the end that answers')
})

test('an agent that goes ends its requests at the hub, and a hub that drains does not wait for them', async () => {
  const asked: AbortSignal[] = []
  const endless: TunnelHandler = {
    ...echo,
    async onRequest(_request, signal) {
      asked.push(signal)
      return { status: 200, headers: {}, body: new Readable({ read: () => undefined }) }
    },
  }
  await using scene = await createTunnelScene({
    server: { ...offering, handlerOf: () => endless },
  })
  const { hub, agent } = await scene.connect(echo)
  const answer = await agent.send({ method: 'GET', path: '/watch', headers: {} }, soon())
  assert.equal(hub.streams, 0, 'users of the hub have no stream open')
  hub.drain('the hub stops')
  await hub.closed
  await assert.rejects(textOf(answer.body))
})

test('an agent has a limited number of requests open at its hub', async () => {
  const { agentStreamsMax } = tunnelBounds.multiplexer
  const clock = simulatedClock()
  const features = new Set(['requests'] as const)
  const { near, far } = memoryLinks({ features })
  const silent: TunnelHandler = { ...echo, onRequest: () => new Promise(() => undefined) }
  acceptTunnel(near, { handler: silent }, { clock, log: silentLogger })
  const agent = serveTunnel(far, echo, validateTunnelLimits(), { clock, log: silentLogger })
  const stop = new AbortController()
  const outcomes: unknown[] = []
  for (let count = 0; count <= agentStreamsMax; count += 1) {
    agent
      .send({ method: 'GET', path: '/up', headers: {} }, stop.signal)
      .catch((error: unknown) => outcomes.push(error))
  }
  const [refused] = await until(async () => (outcomes.length > 0 ? outcomes : undefined), soon())
  assert.ok(refused instanceof TunnelClosedError && !refused.isSent, String(resetCodes.refused))
  assert.equal(outcomes.length, 1)
  stop.abort(new Error('the test is over'))
})
