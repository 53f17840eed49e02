import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js'
import {
  createMetrics,
  createTracer,
  silentLogger,
  systemClock,
  systemRandom,
  type SpanData,
} from '@skerry/base'
import { readBody } from '@skerry/client'
import { callApi, startTestApiServer, startTestWebhook, type WebhookReply } from '@skerry/testing'
import { createOtlpTracing } from './open-tracing.ts'
import { loadExportMethod } from './otlp-schema-table.ts'
import { readTracingConfig } from './tracing-config.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${parentId}-01`

const header = 'apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n'
const configs: readonly { text: string; is?: object; words?: RegExp }[] = [
  { text: header, is: { endpoint: 'localhost:4317', sampledPart: 0 } },
  {
    text: `${header}endpoint: collector:4317\nsamplingRatePerMillion: 250000`,
    is: { endpoint: 'collector:4317', sampledPart: 0.25 },
  },
  {
    text: '{"apiVersion":"apiserver.config.k8s.io/v1","kind":"TracingConfiguration"}',
    is: { endpoint: 'localhost:4317', sampledPart: 0 },
  },
  {
    text: `${header}endpoint: unix:///run/otel.sock`,
    is: { endpoint: 'unix:///run/otel.sock', sampledPart: 0 },
  },
  { text: `${header}samplingRatePerMillion: 1000001`, words: /less than or equal to one million/ },
  { text: `${header}samplingRatePerMillion: -1`, words: /must be positive/ },
  { text: `${header}endpoint: https://collector`, words: /unsupported scheme: https/ },
  { text: `${header}sampling: 5`, words: /unknown field "sampling"/ },
  { text: 'apiVersion: v1\nkind: TracingConfiguration', words: /no kind "TracingConfiguration"/ },
]
test('a TracingConfiguration is read and refused as upstream does', () => {
  for (const { text, is, words } of configs) {
    if (words) assert.throws(() => readTracingConfig(text), words, text)
    else assert.deepEqual(readTracingConfig(text), is, text)
  }
})

interface ReceivedSpan {
  readonly name: string
  readonly traceId: Uint8Array
  readonly attributes: { key: string; value: Record<string, unknown> }[]
  readonly kind: number
}

/** Starts a collector in this process that hands out what it receives. */
async function startCollector() {
  const server = new Server()
  const received: ReceivedSpan[] = []
  const resources: unknown[] = []
  const method = loadExportMethod()
  server.addService(
    { Export: method },
    {
      Export(call: { request: object }, answer: sendUnaryData<object>) {
        // The schema that decoded it has these fields.
        const { resourceSpans } = call.request as {
          resourceSpans: { resource: unknown; scopeSpans: { spans: ReceivedSpan[] }[] }[]
        }
        for (const { resource, scopeSpans } of resourceSpans) {
          resources.push(resource)
          received.push(...scopeSpans.flatMap(({ spans }) => spans))
        }
        answer(null, {})
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  return {
    endpoint: `127.0.0.1:${port}`,
    received,
    resources,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => server.tryShutdown(() => resolve())),
  }
}

const deps = () => ({
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
  metrics: createMetrics(),
})

test('spans arrive at a collector, even those that wait at the end', async () => {
  await using collector = await startCollector()
  {
    await using tracing = await createOtlpTracing(
      {
        endpoint: collector.endpoint,
        sampledPart: 1,
        resource: { 'service.name': 'apiserver' },
        version: '1',
      },
      deps(),
    )
    const { tracer } = tracing
    await using api = await startTestApiServer({ tracing: { tracer } })
    await callApi(api.transport, { method: 'GET', path: '/api/v1/namespaces/default/configmaps/a' })
  }
  const [span] = collector.received.filter(({ name }) => name.includes('configmaps'))
  assert.equal(span?.name, 'GET /api/v1/namespaces/{:namespace}/configmaps/{:name}')
  assert.equal(span.kind, 2)
  assert.equal(span.traceId.length, 16)
  const attributes = Object.fromEntries(span.attributes.map(({ key, value }) => [key, value]))
  assert.equal(attributes['http.request.method']?.['stringValue'], 'GET')
  assert.equal(attributes['http.response.status_code']?.['intValue'], 404)
  assert.match(JSON.stringify(collector.resources[0]), /service\.name.*apiserver/)
})

test('a missing collector costs a request nothing', async () => {
  await using tracing = await createOtlpTracing(
    { endpoint: '127.0.0.1:1', sampledPart: 1, resource: {}, version: '1' },
    deps(),
  )
  await using api = await startTestApiServer({ tracing: { tracer: tracing.tracer } })
  const { status } = await callApi(api.transport, { method: 'GET', path: '/api/v1/namespaces' })
  assert.equal(status, 200)
})

function memoryTracer(sampledPart = 0) {
  const spans: SpanData[] = []
  const onEnd = (span: SpanData): void => void spans.push(span)
  return {
    spans,
    named: (name: string) => spans.find((span) => span.name === name),
    tracer: createTracer(sampledPart, { clock: systemClock, random: systemRandom, onEnd }),
  }
}

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

test('a trace goes on for trusted clients; others only get a link to theirs', async () => {
  const { spans, named, tracer } = memoryTracer(1)
  await using api = await startTestApiServer({ tracing: { tracer }, withAccess: true })
  const ask = async (name: string, groups: readonly string[]): Promise<void> => {
    spans.length = 0
    const transport = api.transportAs({ name, groups, extra: {} })
    const headers = { traceparent, accept: 'application/json' }
    const request = { method: 'GET', path: '/api/v1/nodes', headers } as const
    await readBody((await transport.send(request, soon())).body)
  }
  const name = 'GET /api/v1/nodes'
  await ask('admin', ['system:masters'])
  const trusted = named(name)
  assert.equal(trusted?.context.traceId, traceId)
  assert.equal(trusted.parentSpanId, parentId)
  for (const part of ['authentication', 'authorization', 'List']) {
    assert.equal(named(part)?.parentSpanId, trusted.context.spanId, part)
  }
  assert.ok(trusted.attributes.get('audit-id'))
  await ask('mallory', ['system:authenticated'])
  const other = named(name)
  assert.notEqual(other?.context.traceId, traceId)
  assert.deepEqual(
    other?.links.map((link) => link.traceId),
    [traceId],
  )
  assert.equal(other?.attributes.get('http.response.status_code'), 403)
})

test('only trusted clients can have a request traced', async () => {
  const { spans, tracer } = memoryTracer(0)
  await using api = await startTestApiServer({ tracing: { tracer }, withAccess: true })
  const transport = api.transportAs({ name: 'mallory', groups: [], extra: {} })
  const request = { method: 'GET', path: '/api/v1/nodes', headers: { traceparent } } as const
  await readBody((await transport.send(request, soon())).body)
  assert.equal(spans.length, 0)
})

test('a webhook learns which trace its call belongs to', async () => {
  const { named, tracer } = memoryTracer(1)
  await using api = await startTestApiServer({ tracing: { tracer }, withAccess: true })
  await using hook = await startTestWebhook(({ body }): WebhookReply => {
    // This is an AdmissionReview, because the server under test sent it.
    const { apiVersion, request } = body as { apiVersion: string; request: { uid: string } }
    return { apiVersion, kind: 'AdmissionReview', response: { uid: request.uid, allowed: true } }
  })
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  const webhook = {
    name: 'a.test.dev',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { url: hook.url, caBundle: hook.caBundle },
    rules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
    ],
  }
  await callApi(api.transport, {
    method: 'POST',
    path,
    body: { metadata: { name: 'test' }, webhooks: [webhook] },
  })
  const created = await callApi(api.transport, {
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body: { metadata: { name: 'a' } },
  })
  assert.equal(created.status, 201)
  const call = named('Call validating webhook')
  const [asked] = hook.requests
  assert.ok(call)
  const { context } = call
  assert.equal(asked?.headers['traceparent'], `00-${context.traceId}-${context.spanId}-01`)
  assert.equal(call.attributes.get('webhook'), 'a.test.dev')
})
