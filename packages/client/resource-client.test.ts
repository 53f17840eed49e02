import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { StatusError, isStatusError, type Pod } from '@skerry/api'
import { createCluster, type ClusterClient } from './cluster.ts'
import { resources } from './resources-table.ts'
import { scriptedTransport, type ScriptedAnswer } from './testing/scripted-transport.ts'

const signal = new AbortController().signal
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'a b' } }

function start(answer: (path: string) => ScriptedAnswer = () => ({ body: pod })) {
  const transport = scriptedTransport(({ path }) => answer(path))
  const deps = { log: silentLogger, clock: systemClock, userAgent: 'test' }
  return { transport, cluster: createCluster(transport, deps) }
}

const calls: [string, (cluster: ClusterClient) => Promise<unknown>, string][] = [
  [
    'a get',
    (cluster) => cluster.resource(resources.pods).get({ namespace: 'a', name: 'p' }, signal),
    'GET /api/v1/namespaces/a/pods/p',
  ],
  [
    'a create, its namespace escaped',
    (cluster) => cluster.resource(resources.pods).create(pod, signal, { isDryRun: true }),
    'POST /api/v1/namespaces/a%20b/pods?dryRun=All',
  ],
  [
    'a status update',
    (cluster) => cluster.resource(resources.pods).updateStatus(pod, signal),
    'PUT /api/v1/namespaces/a%20b/pods/p/status',
  ],
  [
    'a forced apply',
    (cluster) =>
      cluster
        .resource(resources.nodes)
        .patch({ name: 'n', type: 'apply', patch: {}, fieldManager: 'me', force: true }, signal),
    'PATCH /api/v1/nodes/n?fieldManager=me&force=true',
  ],
  [
    'a binding',
    (cluster) =>
      cluster
        .resource(resources.pods)
        .createSubresource({ namespace: 'a', name: 'p', subresource: 'binding', body: {} }, signal),
    'POST /api/v1/namespaces/a/pods/p/binding',
  ],
  [
    'a collection delete',
    (cluster) =>
      cluster
        .resource(resources.jobs)
        .deleteCollection({ namespace: 'a', labelSelector: 'x=y' }, signal),
    'DELETE /apis/batch/v1/namespaces/a/jobs?labelSelector=x%3Dy',
  ],
]

for (const [name, call, expected] of calls) {
  test(`${name} goes to ${expected}`, async () => {
    const { cluster, transport } = start()
    await call(cluster)
    assert.deepEqual(transport.requests, [expected])
  })
}

test('a delete carries its options in the body', async () => {
  const { cluster, transport } = start()
  const preconditions = { uid: 'u' }
  await cluster
    .resource(resources.pods)
    .delete({ namespace: 'a', name: 'p', gracePeriodSeconds: 0, preconditions }, signal)
  assert.deepEqual(transport.bodies, [
    { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions },
  ])
})

test('a Status answer becomes the StatusError that it means', async () => {
  const body = {
    kind: 'Status',
    code: 409,
    reason: 'AlreadyExists',
    message: 'pods "p" already exists',
    details: { name: 'p' },
  }
  const { cluster } = start(() => ({ status: 409, body }))
  const creating = cluster.resource(resources.pods).create(pod, signal)
  await assert.rejects(creating, (error: unknown) => {
    assert.ok(isStatusError(error, 'AlreadyExists'))
    assert.equal(error.details?.name, 'p')
    return true
  })
})

test('an answer of a proxy that is not a Status keeps its code and its time to come back', async () => {
  const { cluster } = start(() => ({
    status: 429,
    headers: { 'retry-after': '7' },
    body: { slow: 'down' },
  }))
  const getting = cluster.resource(resources.pods).get({ namespace: 'a', name: 'p' }, signal)
  await assert.rejects(getting, (error: unknown) => {
    assert.ok(error instanceof StatusError)
    assert.deepEqual(
      [error.reason, error.code, error.details?.retryAfterSeconds],
      ['TooManyRequests', 429, 7],
    )
    return true
  })
})

test('a list reads all pages, gives each item its kind, and starts over when a page expires', async () => {
  const page = (names: string[], next?: string): ScriptedAnswer => ({
    body: {
      apiVersion: 'v1',
      kind: 'PodList',
      metadata: { resourceVersion: '9', ...(next ? { continue: next } : {}) },
      items: names.map((name) => ({ metadata: { name } })),
    },
  })
  const answers = [
    page(['a'], 'more'),
    { status: 410, body: { kind: 'Status', code: 410, reason: 'Expired', message: 'old' } },
    page(['a', 'b']),
  ]
  const { cluster, transport } = start(() => answers.shift() ?? page([]))
  const list = await cluster.resource(resources.pods).list({}, signal)
  assert.deepEqual(
    list.items.map(({ kind, metadata }) => [kind, metadata.name]),
    [
      ['Pod', 'a'],
      ['Pod', 'b'],
    ],
  )
  assert.deepEqual(transport.requests, [
    'GET /api/v1/pods?limit=500',
    'GET /api/v1/pods?limit=500&continue=more',
    'GET /api/v1/pods?limit=0',
  ])
})

test('a namespaced object without a namespace is refused before anything is sent', async () => {
  const { cluster, transport } = start()
  await assert.rejects(
    async () => cluster.resource(resources.pods).get({ name: 'p' }, signal),
    TypeError,
  )
  assert.deepEqual(transport.requests, [])
})
