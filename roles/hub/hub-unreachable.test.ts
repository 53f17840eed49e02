import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { test } from 'node:test'
import { clusterResource } from '@skerry/fleet-kinds'
import { until } from '@skerry/testing'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }
const domain = 'clusters.example.com'
const pods = '/api/v1/namespaces/default/pods'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** Sends a request over HTTP/1.1; an upgrade is answered, too. */
async function ask(fleet: TestHub, options: RequestOptions, body?: string): Promise<Answer> {
  const { certificate: cert, key } = await fleet.credentialsOf(operator)
  const { port } = new URL(fleet.url)
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', port, ca: fleet.caPem, cert, key, agent: false, ...options },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      },
    )
    request.on('error', reject)
    request.on('upgrade', (_answer, socket) => {
      socket.destroy()
      resolve({ status: 101, headers: {}, text: '' })
    })
    // The body stays open: the hub must not wait for its rest.
    if (body !== undefined) request.write(body)
    else request.end()
  })
}

async function askHttp2(fleet: TestHub, path: string, method = 'GET'): Promise<Answer> {
  const { certificate: cert, key } = await fleet.credentialsOf(operator)
  const session = connectHttp2(fleet.url, { ca: fleet.caPem, cert, key })
  try {
    return await new Promise((resolve, reject) => {
      const stream = session.request({ ':path': path, ':method': method })
      let text = ''
      const seen: { status: number; headers: Record<string, unknown> } = { status: 0, headers: {} }
      stream.setEncoding('utf8')
      stream.on('response', (headers) => {
        seen.status = headers[':status'] ?? 0
        seen.headers = headers
      })
      stream.on('data', (chunk: string) => (text += chunk))
      stream.on('end', () => resolve({ ...seen, text }))
      stream.on('error', reject)
      stream.end()
    })
  } finally {
    session.destroy()
  }
}

const upgrade = (protocol: string) => ({ connection: 'Upgrade', upgrade: protocol })
const webSocket = {
  ...upgrade('websocket'),
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
}

/** Every kind of request to a cluster. */
const paths: readonly {
  readonly what: string
  readonly ask: (fleet: TestHub, cluster: string) => Promise<Answer>
}[] = [
  { what: 'GET', ask: (fleet, name) => ask(fleet, { path: `/clusters/${name}${pods}` }) },
  {
    what: 'HEAD',
    ask: (fleet, name) => ask(fleet, { path: `/clusters/${name}/version`, method: 'HEAD' }),
  },
  {
    what: 'a watch',
    ask: (fleet, name) => ask(fleet, { path: `/clusters/${name}${pods}?watch=1` }),
  },
  {
    what: 'logs that are followed',
    ask: (fleet, name) => ask(fleet, { path: `/clusters/${name}${pods}/a/log?follow=true` }),
  },
  {
    what: 'a body that is still being sent',
    ask: (fleet, name) => {
      const headers = { 'content-type': 'application/json', 'content-length': '1000' }
      return ask(fleet, { path: `/clusters/${name}${pods}`, method: 'POST', headers }, '{')
    },
  },
  {
    what: 'an upgrade to SPDY',
    ask: (fleet, name) =>
      ask(fleet, {
        path: `/clusters/${name}${pods}/a/exec?command=sh`,
        method: 'POST',
        headers: upgrade('SPDY/3.1'),
      }),
  },
  {
    what: 'an upgrade to WebSocket',
    ask: (fleet, name) =>
      ask(fleet, { path: `/clusters/${name}${pods}/a/exec?command=sh`, headers: webSocket }),
  },
  { what: 'HTTP/2', ask: (fleet, name) => askHttp2(fleet, `/clusters/${name}/version`) },
  {
    what: 'a watch over HTTP/2',
    ask: (fleet, name) => askHttp2(fleet, `/clusters/${name}${pods}?watch=1`),
  },
  {
    what: 'the path of Karmada',
    ask: (fleet, name) => ask(fleet, { path: `${karmadaPath}/${name}/proxy/version` }),
  },
  {
    what: 'its host name',
    ask: (fleet, name) => {
      const host = `${name}.${domain}`
      return ask(fleet, {
        path: '/version',
        servername: host,
        headers: { host },
        checkServerIdentity: () => undefined,
      })
    },
  },
]
const karmadaPath = '/apis/cluster.karmada.io/v1alpha1/clusters'

function checkAnswer(what: string, answer: Answer, expected: { retryAfter: RegExp; why: RegExp }) {
  assert.equal(answer.status, 503, `${what}: ${answer.text}`)
  assert.match(String(answer.headers['retry-after']), expected.retryAfter, what)
  const auditId = String(answer.headers['audit-id'])
  assert.match(auditId, /^[0-9a-f-]{36}$/, what)
  if (what === 'HEAD') return
  const body = JSON.parse(answer.text)
  assert.deepEqual([body.kind, body.reason, body.code], ['Status', 'ServiceUnavailable', 503], what)
  assert.match(body.message, expected.why, what)
  assert.ok(body.message.endsWith(`(request ${auditId})`), `${what}: ${body.message}`)
  assert.deepEqual(body.details.causes[0].reason, 'ClusterNotReachable', what)
}

test('a request to an unreachable cluster is answered at once, with the reason and since when, whichever way it takes', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub({ clusterDomain: domain })
  for (const name of ['never', 'edge']) {
    const apiVersion = 'cluster.karmada.io/v1alpha1'
    const object = { apiVersion, kind: 'Cluster', metadata: { name } }
    await fleet.admin
      .resource(clusterResource)
      .create({ ...object, spec: { syncMode: 'Pull' } }, soon())
  }
  // A Retry-After date; clients of Kubernetes repeat requests for minutes if it is a number of seconds.
  const aDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/
  const never = {
    retryAfter: aDate,
    why: /^Cannot reach cluster "never": it has not connected yet/,
  }
  for (const each of paths) checkAnswer(each.what, await each.ask(fleet, 'never'), never)
  {
    await using agent = await startTestAgent(fleet, { name: 'edge', api: edge.api })
    await agent.connected()
  }
  await until(() => fleet.hub.connections.own.sessions('edge').length === 0, soon())
  const gone = {
    retryAfter: /^2$/,
    why: /^Cannot reach cluster "edge": the agent stops, not connected since 20\d\d-[\dT:.-]+Z/,
  }
  // A cluster that has just disconnected is usually back soon.
  for (const each of paths) checkAnswer(each.what, await each.ask(fleet, 'edge'), gone)
})

test('kubectl shows which cluster is away even before it asks that cluster for its kinds', async () => {
  await using fleet = await startTestHub()
  const object = { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster' }
  const created = { ...object, metadata: { name: 'never' }, spec: { syncMode: 'Pull' } } as const
  await fleet.admin.resource(clusterResource).create(created, soon())
  const warned = async (path: string) => (await ask(fleet, { path })).headers['warning']
  const away = '299 - "Cannot reach cluster \\"never\\": it has not connected yet"'
  for (const path of ['/api?timeout=32s', '/apis', '/api/v1', '/apis/apps/v1', '/version']) {
    assert.equal(await warned(`/clusters/never${path}`), away, path)
  }
  assert.match(String(await warned('/clusters/nobody/api')), /nobody/)
  // For these the client shows the answer's own message.
  assert.equal(await warned(`/clusters/never${pods}`), undefined)
})
