import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createTracer, systemClock, systemRandom, type SpanData } from '@skerry/base'
import { readBody } from '@skerry/client'
import {
  registerCluster,
  startTestAgent,
  startTestHub,
  type TestHubOptions,
} from '../../testing/scenes/test-fleet.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${parentId}-01`
const path = '/clusters/edge/api/v1/pods'
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

/** Stands in for an API server that records the headers of its requests. */
async function startEdge() {
  const asked: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    if (request.url === '/api/v1/pods') asked.push(request.headers)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function startFleet(options: TestHubOptions) {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startEdge())
  const fleet = stack.use(await startTestHub(options))
  await registerCluster(fleet, 'edge')
  const agent = stack.use(await startTestAgent(fleet, { name: 'edge', api: { server: edge.url } }))
  await agent.connected()
  const transport = stack.use(
    await fleet.as({ commonName: 'olga', organizations: ['system:masters'] }),
  )
  const owned = stack.move()
  return {
    edge,
    async ask(asked = path, expected = 200): Promise<void> {
      const request = { method: 'GET', path: asked, headers: { traceparent } } as const
      const { status, body } = await transport.send(request, soon())
      await readBody(body)
      assert.equal(status, expected)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

test('one trace goes from the client through hub, tunnel and agent to the API server', async () => {
  const spans: SpanData[] = []
  const onEnd = (span: SpanData): void => void spans.push(span)
  const tracer = createTracer(0, { clock: systemClock, random: systemRandom, onEnd })
  await using scene = await startFleet({ tracer })
  await scene.ask()
  const named = (name: string): SpanData =>
    spans.find((span) => span.name === name && span.context.traceId === traceId) ??
    assert.fail(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`)
  const call = named('HTTP GET')
  const tunnel = named('tunnel')
  assert.equal(named('authorization').parentSpanId, tunnel.parentSpanId)
  const byId = new Map(spans.map((span) => [span.context.spanId, span]))
  const chain: string[] = []
  for (let span: SpanData | undefined = call; span; span = byId.get(span.parentSpanId ?? '')) {
    chain.push(`${span.kind} ${span.name}`)
    if (span.parentSpanId === parentId) chain.push('the client')
  }
  assert.deepEqual(chain, [
    'client HTTP GET',
    'server GET',
    'client tunnel',
    'server GET',
    'the client',
  ])
  assert.equal(tunnel.attributes.get('cluster'), 'edge')
  assert.equal(call.attributes.get('http.response.status_code'), 200)
  const [asked] = scene.edge.asked
  assert.equal(asked?.['traceparent'], `00-${traceId}-${call.context.spanId}-01`)
  // One id finds the request in audit, logs and traces alike.
  assert.equal(tunnel.attributes.get('audit-id'), asked?.['audit-id'])
})

test('the way to a service of the edge is a part of its request, with the same id', async () => {
  const spans: SpanData[] = []
  const onEnd = (span: SpanData): void => void spans.push(span)
  const tracer = createTracer(0, { clock: systemClock, random: systemRandom, onEnd })
  await using scene = await startFleet({ tracer })
  // Its agent allows none.
  await scene.ask('/clusters/edge/services/shop/web:80/', 403)
  const tunnel = spans.find(({ name, attributes }) => {
    return name === 'tunnel' && attributes.get('http.request.method') === 'CONNECT'
  })
  const request = spans.find(({ context }) => context.spanId === tunnel?.parentSpanId)
  assert.equal(request?.parentSpanId, parentId)
  assert.equal(tunnel?.context.traceId, traceId)
  assert.match(String(tunnel.attributes.get('audit-id')), /^[0-9a-f-]{36}$/)
})

test('a hub that traces nothing passes no trace on', async () => {
  await using scene = await startFleet({})
  await scene.ask()
  const [asked] = scene.edge.asked
  assert.ok(asked)
  assert.equal(asked['traceparent'], undefined)
})
