import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { silentLogger } from '@skerry/base'
import {
  callApi,
  startTestApiServer,
  startTestWebhook,
  type JsonReply,
  type TestApiServer,
} from '@skerry/testing'
import { answerHead } from './answer-head.ts'

interface Head {
  readonly status: number
  /** The bytes of UTF-8, one character each. */
  readonly warnings: readonly string[]
}

interface Ask {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}

type Exchange = (server: TestApiServer, ask: Ask) => Promise<Head>

/** Sends the request and one behind it on the same connection, which must be answered as well. */
async function overHttp1(server: TestApiServer, { method, path, body }: Ask): Promise<Head> {
  const { ca, cert, key } = server.credentials
  const port = Number(new URL(server.url).port)
  const socket = connect({ host: '127.0.0.1', port, ca, cert, key, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  const sent = body === undefined ? '' : JSON.stringify(body)
  const length = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(sent)}`
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: a\r\n${length}\r\n\r\n${sent}`)
  socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  assert.match(text, /HTTP\/1\.1 200 OK\r\n(?:[^\r]+\r\n)*\r\nok$/, `behind ${path}: ${text}`)
  const [head = ''] = text.split('\r\n\r\n')
  const warnings = [...head.matchAll(/^warning: (.*)$/gim)].map(([, value = '']) => value.trim())
  return { status: Number(head.split(' ')[1]), warnings }
}

async function overHttp2(server: TestApiServer, { method, path, body }: Ask): Promise<Head> {
  const { ca, cert, key } = server.credentials
  const session = http2.connect(server.url, { ca, cert, key })
  try {
    const headers = { ':method': method, ':path': path, 'content-type': 'application/json' }
    const stream = session.request(headers)
    stream.end(body && JSON.stringify(body))
    const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
    let bytes = 0
    stream.on('data', (chunk: Buffer) => (bytes += chunk.length))
    await once(stream, 'end')
    assert.ok(bytes > 0, `${path} has a body`)
    const { warning = '' } = head
    const lines = String(warning)
      .split(', 299')
      .map((text, at) => (at === 0 ? text : `299${text}`))
    const warnings = lines.filter(Boolean).map((text) => Buffer.from(text, 'latin1').toString())
    return { status: Number(head[':status']), warnings }
  } finally {
    session.destroy()
  }
}

const versions: readonly [name: string, exchange: Exchange][] = [
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
]

const configMaps = '/api/v1/namespaces/default/configmaps'

function newMap(more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'x' }, ...more }
}

async function post(server: TestApiServer, path: string, body: object): Promise<void> {
  const made = await callApi(server.transport, { method: 'POST', path, body })
  assert.equal(made.status, 201, made.text)
}

async function withWebhook(server: TestApiServer, response: () => object) {
  const hook = await startTestWebhook(({ body }) => {
    const { uid } = (body as JsonReply).request
    return { ...(body as object), response: { uid, ...response() } }
  })
  await post(server, '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'w' },
    webhooks: [
      {
        name: 'a.test.dev',
        clientConfig: { url: `${hook.url}/`, caBundle: hook.caBundle },
        rules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  return hook
}

const things = '/apis/x.io/v1/namespaces/default/things'

async function withDeprecatedKind(server: TestApiServer): Promise<void> {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  const deprecationWarning = 'x.io/v1 is deprecated – use v2'
  await post(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.x.io' },
    spec: {
      group: 'x.io',
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Namespaced',
      versions: [
        { name: 'v1', served: true, storage: true, deprecated: true, deprecationWarning, schema },
      ],
    },
  })
}

test('a warning in any language reaches its reader; one that would split the head is left out', async () => {
  await using server = await startTestApiServer({ withAccess: true })
  await withDeprecatedKind(server)
  await using _hook = await withWebhook(server, () => ({
    allowed: true,
    warnings: ['nutze v2 – "bitte" \\o/', 'a\0b', 'c\r\nx-injected: 1', 'd\u0085', '\ud800', ''],
  }))
  const deprecated = ['299 - "x.io/v1 is deprecated – use v2"']
  const thing = { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { generateName: 'a' } }
  const warned = ['299 - "nutze v2 – \\"bitte\\" \\\\o/"', '299 - "\ufffd"']
  const strange = newMap({ '☃': 1 })
  const asks: readonly [ask: Ask, expected: Head][] = [
    [
      { method: 'GET', path: things },
      { status: 200, warnings: deprecated },
    ],
    [
      { method: 'POST', path: things, body: thing },
      { status: 201, warnings: deprecated },
    ],
    [
      { method: 'POST', path: configMaps, body: newMap() },
      { status: 201, warnings: warned },
    ],
    [
      { method: 'POST', path: `${configMaps}?fieldValidation=Warn`, body: strange },
      { status: 201, warnings: ['299 - "unknown field \\"☃\\""', ...warned] },
    ],
  ]
  for (const [name, exchange] of versions) {
    for (const [ask, expected] of asks) {
      assert.deepEqual(await exchange(server, ask), expected, `${name} ${ask.path}`)
    }
  }
})

test('whatever code a webhook refuses with, its client reads an HTTP status, as does the request behind it', async () => {
  await using server = await startTestApiServer({ withAccess: true })
  let status: object = {}
  await using _hook = await withWebhook(server, () => ({ allowed: false, status }))
  const refusals: readonly (readonly [status: object, code: number])[] = [
    ...[-1, 0, 100, 101, 200, 204, 304, 399].map((code) => [{ code }, 400] as const),
    ...[400, 418, 429, 599].map((code) => [{ code }, code] as const),
    ...[600, 999, 1000, 1e9].map((code) => [{ code }, 400] as const),
    // There is no Status: the call has failed.
    ...[403.5, 1e10, 'x'].map((code) => [{ code }, 500] as const),
    [{ code: 403, reason: '☃\r\nx: y', message: '☃\0' }, 403],
    [{ code: 429, details: { retryAfterSeconds: '☃\r\nx' } }, 500],
    [{ code: 429, details: { retryAfterSeconds: -1 } }, 429],
    [{ code: 429, details: 'x' }, 500],
  ]
  for (const [name, exchange] of versions) {
    for (const [refusal, code] of refusals) {
      status = refusal
      const head = await exchange(server, { method: 'POST', path: configMaps, body: newMap() })
      assert.equal(head.status, code, `${name} ${JSON.stringify(refusal)}`)
    }
  }
})

test('a head has an HTTP status and headers, whatever made it', () => {
  for (const status of [0, 101, 199, 600, 1000, 200.5, Number.NaN]) {
    assert.equal(answerHead({ status, headers: {} }, silentLogger).status, 500, String(status))
  }
  const headers = {
    location: '/a',
    warning: ['299 - "a"', '299 - "\xe2\x98\x83"'],
    'x-list': ['a', 'b\n'],
    'retry-after': '☃',
    'x y': 'z',
    ':status': '200',
    'x-split': 'a\r\nb: c',
  }
  const { status, headers: written } = answerHead({ status: 204, headers }, silentLogger)
  const { location, warning } = headers
  assert.deepEqual([status, { ...written }], [204, { location, warning }])
})
