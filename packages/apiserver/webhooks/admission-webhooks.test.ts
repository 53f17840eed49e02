import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { JsonObject } from '@skerry/api'
import {
  callApi,
  startTestApiServer,
  startTestWebhook,
  type ApiReply,
  type JsonReply,
  type TestApiServer,
  type TestWebhook,
  type WebhookReply,
} from '@skerry/testing'

const group = '/apis/admissionregistration.k8s.io/v1'

interface Configuration {
  readonly sort?: 'mutating' | 'validating'
  readonly name?: string
  readonly webhooks: readonly (JsonObject & { name: string })[]
}

async function configure(api: TestApiServer, hook: TestWebhook, wanted: Configuration) {
  const { sort = 'validating', name = 'test', webhooks } = wanted
  const kind = `${sort === 'mutating' ? 'Mutating' : 'Validating'}WebhookConfiguration`
  const path = `${group}/${kind.toLowerCase()}s`
  await callApi(api.transport, { method: 'DELETE', path: `${path}/${name}` })
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name },
    webhooks: webhooks.map((webhook) => ({
      clientConfig: { url: `${hook.url}/${webhook.name}`, caBundle: hook.caBundle },
      rules: [rule],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...webhook,
    })),
  }
  const reply = await callApi(api.transport, { method: 'POST', path, body })
  assert.equal(reply.status, 201, reply.text)
}

const rule = Object.freeze({
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  resources: ['configmaps'],
})

/** Returns the AdmissionReview of a correct webhook. */
function answer(body: unknown, response: JsonObject): WebhookReply {
  const review = body as JsonReply
  return {
    apiVersion: review.apiVersion,
    kind: 'AdmissionReview',
    response: { uid: review.request.uid, ...response },
  }
}

const allow = ({ body }: { body: unknown }): WebhookReply => answer(body, { allowed: true })

function patchOf(operations: readonly object[]): JsonObject {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return { allowed: true, patchType: 'JSONPatch', patch }
}

const configMaps = '/api/v1/namespaces/default/configmaps'

function createMap(api: TestApiServer, name: string, fields: object = {}): Promise<ApiReply> {
  const body = { metadata: { name }, data: { a: 'b' }, ...fields }
  return callApi(api.transport, { method: 'POST', path: configMaps, body })
}

function requestOf(hook: TestWebhook, at = -1): JsonReply {
  const body = hook.requests.at(at)?.body as JsonReply
  return body?.request
}

const refusals: [name: string, reply: (body: unknown) => WebhookReply | undefined, object][] = [
  [
    'deny',
    (body) => answer(body, { allowed: false }),
    {
      code: 400,
      message: 'admission webhook "deny.test.dev" denied the request without explanation',
    },
  ],
  [
    'words',
    (body) => answer(body, { allowed: false, status: { message: 'no way', code: 418 } }),
    {
      code: 418,
      message: 'admission webhook "words.test.dev" denied the request: no way',
    },
  ],
  [
    'reason',
    (body) => answer(body, { allowed: false, status: { reason: 'Conflict', code: 200 } }),
    {
      code: 400,
      reason: 'Conflict',
      message: 'admission webhook "reason.test.dev" denied the request: Conflict',
    },
  ],
  [
    'uid',
    (body) => answer(body, { allowed: true, uid: 'x' }),
    {
      code: 500,
      message:
        /failed calling webhook "uid.test.dev": received invalid webhook response: expected response.uid="[0-9a-f-]{36}", got "x"$/,
    },
  ],
  [
    'none',
    () => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }),
    {
      code: 500,
      message:
        'Internal error occurred: failed calling webhook "none.test.dev": received invalid webhook response: webhook response was absent',
    },
  ],
  [
    'kind',
    () => ({ apiVersion: 'admission.k8s.io/v1', kind: 'Foo' }),
    {
      message:
        'Internal error occurred: failed calling webhook "kind.test.dev": failed to call webhook: no kind "Foo" is registered for version "admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
    },
  ],
  [
    'version',
    (body) => ({
      ...Object(answer(body, { allowed: true })),
      apiVersion: 'admission.k8s.io/v1beta1',
    }),
    {
      message:
        'Internal error occurred: failed calling webhook "version.test.dev": failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    },
  ],
  [
    'type',
    (body) => answer(body, { allowed: 'yes' }),
    {
      message:
        'Internal error occurred: failed calling webhook "type.test.dev": failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    },
  ],
  [
    'patch',
    (body) => answer(body, patchOf([])),
    {
      message:
        'Internal error occurred: failed calling webhook "patch.test.dev": received invalid webhook response: validating webhook may not return response.patch',
    },
  ],
  [
    'broken',
    () => ({ status: 500, text: 'disk on fire' }),
    {
      message:
        'Internal error occurred: failed calling webhook "broken.test.dev": failed to call webhook: an error on the server ("disk on fire") has prevented the request from succeeding',
    },
  ],
  [
    'absent',
    () => ({ status: 404, text: '404' }),
    {
      message:
        'Internal error occurred: failed calling webhook "absent.test.dev": failed to call webhook: the server could not find the requested resource',
    },
  ],
  [
    'hangup',
    () => undefined,
    {
      message:
        /failed to call webhook: Post "https:\/\/127\.0\.0\.1:\d+\/hangup.test.dev\?timeout=10s": EOF$/,
    },
  ],
]

test('a request that a webhook refuses, or does not answer properly, fails in the words of upstream', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  const replies = new Map(refusals.map(([name, reply]) => [`/${name}.test.dev`, reply]))
  await using hook = await startTestWebhook(({ path, body }) =>
    replies.get(path.split('?')[0] ?? '')?.(body),
  )
  for (const [name, , expected] of refusals) {
    await configure(api, hook, { webhooks: [{ name: `${name}.test.dev` }] })
    const { body } = await createMap(api, 'refused')
    assertPart(body, expected)
    await configure(api, hook, {
      webhooks: [{ name: `${name}.test.dev`, failurePolicy: 'Ignore' }],
    })
    const isDenial = ['deny', 'words', 'reason'].includes(name)
    assert.equal((await createMap(api, `ignored-${name}`)).status === 201, !isDenial, name)
  }
  assert.equal(new Set(hook.requests.map(({ connection }) => connection)).size < 6, true)
})

function assertPart(actual: JsonReply, expected: object): void {
  for (const [key, value] of Object.entries(expected)) {
    if (value instanceof RegExp) assert.match(actual[key], value)
    else assert.deepEqual(actual[key], value)
  }
}

test('a webhook learns who does what to which object', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(allow)
  await configure(api, hook, { webhooks: [{ name: 'see.test.dev', timeoutSeconds: 3 }] })
  await callApi(api.transport, {
    method: 'POST',
    path: `${configMaps}?fieldManager=me&dryRun=All`,
    body: { metadata: { name: 'seen' }, data: { a: 'b' } },
  })
  const { uid, object, ...request } = requestOf(hook)
  assert.match(uid, /^[0-9a-f-]{36}$/)
  assert.deepEqual(request, {
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    requestResource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'seen',
    namespace: 'default',
    operation: 'CREATE',
    userInfo: {
      username: 'kubernetes-admin',
      groups: ['system:masters', 'system:authenticated'],
    },
    oldObject: null,
    dryRun: true,
    options: {
      kind: 'CreateOptions',
      apiVersion: 'meta.k8s.io/v1',
      dryRun: ['All'],
      fieldManager: 'me',
    },
  })
  assert.deepEqual(
    [object.kind, object.data, object.metadata.name],
    ['ConfigMap', { a: 'b' }, 'seen'],
  )
  assert.equal(hook.requests.at(-1)?.path, '/see.test.dev?timeout=3s')

  await createMap(api, 'seen')
  const path = `${configMaps}/seen`
  const headers = { 'content-type': 'application/merge-patch+json' }
  await callApi(api.transport, { method: 'PATCH', path, headers, body: { data: { a: 'c' } } })
  const patched = requestOf(hook)
  assert.deepEqual(
    [patched.operation, patched.object.data, patched.oldObject.data, patched.options.kind],
    ['UPDATE', { a: 'c' }, { a: 'b' }, 'PatchOptions'],
  )
  await callApi(api.transport, { method: 'DELETE', path })
  const deleted = requestOf(hook)
  assert.deepEqual(
    [deleted.operation, deleted.object, deleted.oldObject.data, deleted.options],
    ['DELETE', null, { a: 'c' }, { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' }],
  )
})

const selections: [name: string, webhook: JsonObject, asked: boolean][] = [
  ['another resource', { rules: [{ ...rule, resources: ['secrets'] }] }, false],
  ['another group', { rules: [{ ...rule, apiGroups: ['apps'] }] }, false],
  ['another operation', { rules: [{ ...rule, operations: ['DELETE'] }] }, false],
  ['another scope', { rules: [{ ...rule, scope: 'Cluster' }] }, false],
  ['only subresources', { rules: [{ ...rule, resources: ['*/status'] }] }, false],
  [
    'everything',
    { rules: [{ ...rule, apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }] },
    true,
  ],
  ['namespaces with a label', { namespaceSelector: { matchLabels: { team: 'a' } } }, false],
  [
    'this namespace',
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } },
    true,
  ],
  ['objects with another label', { objectSelector: { matchLabels: { app: 'shop' } } }, false],
  ['objects with this label', { objectSelector: { matchLabels: { app: 'web' } } }, true],
]

test('a webhook is asked only about requests that its rules and selectors name', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(allow)
  for (const [name, webhook, isAsked] of selections) {
    await configure(api, hook, { webhooks: [{ name: 'select.test.dev', ...webhook }] })
    const before = hook.requests.length
    const fields = { metadata: { generateName: 'x-', labels: { app: 'web' } } }
    assert.equal((await createMap(api, '', fields)).status, 201)
    assert.equal(hook.requests.length - before, isAsked ? 1 : 0, name)
  }
})

test('configurations of webhooks are never shown to webhooks', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(() => ({ status: 500, text: 'down' }))
  const all = {
    ...rule,
    apiGroups: ['*'],
    apiVersions: ['*'],
    resources: ['*/*'],
    operations: ['*'],
  }
  for (const sort of ['mutating', 'validating'] as const) {
    await configure(api, hook, { sort, webhooks: [{ name: 'all.test.dev', rules: [all] }] })
  }
  assert.equal((await createMap(api, 'blocked')).status, 500)
  await configure(api, hook, { sort: 'mutating', webhooks: [] })
  await configure(api, hook, { sort: 'validating', webhooks: [] })
  assert.equal((await createMap(api, 'free')).status, 201)
})

test('a webhook for one version sees requests for the other versions of the resource, converted', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(({ body, path }) =>
    answer(
      body,
      path.startsWith('/change')
        ? patchOf([{ op: 'replace', path: '/spec/maxReplicas', value: 7 }])
        : { allowed: true },
    ),
  )
  const rules = [
    {
      ...rule,
      apiGroups: ['autoscaling'],
      apiVersions: ['v1'],
      resources: ['horizontalpodautoscalers'],
    },
  ]
  await configure(api, hook, { sort: 'mutating', webhooks: [{ name: 'change.test.dev', rules }] })
  await configure(api, hook, {
    webhooks: [{ name: 'exact.test.dev', rules, matchPolicy: 'Exact' }],
  })
  const reply = await callApi(api.transport, {
    method: 'POST',
    path: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    body: {
      metadata: { name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 3,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
          },
        ],
      },
    },
  })
  assert.equal(reply.status, 201, reply.text)
  assert.equal(reply.body.spec.maxReplicas, 7)
  assert.equal(reply.body.spec.metrics[0].resource.target.averageUtilization, 60)
  assert.equal(hook.requests.length, 1)
  const { kind, requestKind, object } = requestOf(hook)
  assert.deepEqual([kind.version, requestKind.version], ['v1', 'v2'])
  assert.deepEqual(
    [object.apiVersion, object.spec.targetCPUUtilizationPercentage],
    ['autoscaling/v1', 60],
  )
})

test('patches are applied in the order of names, defaults are set after them, and the last word is validated', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(({ body, path }) => {
    if (path.startsWith('/first'))
      return answer(body, patchOf([{ op: 'add', path: '/data/order', value: '1' }]))
    const order = (body as JsonReply).request.object.data?.order ?? ''
    return answer(body, patchOf([{ op: 'add', path: '/data/order', value: `${order}2` }]))
  })
  await configure(api, hook, {
    sort: 'mutating',
    name: 'b',
    webhooks: [{ name: 'second.test.dev' }],
  })
  await configure(api, hook, {
    sort: 'mutating',
    name: 'a',
    webhooks: [{ name: 'first.test.dev' }],
  })
  const { body } = await createMap(api, 'ordered')
  assert.deepEqual(body.data, { a: 'b', order: '12' })
  assert.deepEqual(Object.keys(body.metadata.managedFields[0].fieldsV1['f:data']), ['.', 'f:a'])
})

const patchFailures: [operations: readonly object[] | string, message: string | RegExp][] = [
  [
    [{ op: 'remove', path: '/data/none' }],
    "Internal error occurred: error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value",
  ],
  [
    [{ op: 'test', path: '/data/a', value: 'x' }],
    'Internal error occurred: testing value /data/a failed: test failed',
  ],
  [
    [{ op: 'add', path: '/immutable', value: 'x' }],
    'Internal error occurred: json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool',
  ],
  [
    [{ op: 'add', path: '/data/-~1', value: 'x' }],
    /ConfigMap "patched" is invalid: data\[-\/\]: Invalid value/,
  ],
  [
    '{"a":1}',
    'Internal error occurred: failed calling webhook "patch.test.dev": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
  ],
]

test('a patch that cannot be applied refuses the request', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  let current: readonly object[] | string = []
  await using hook = await startTestWebhook(({ body }) => {
    const text = typeof current === 'string' ? current : JSON.stringify(current)
    const patch = Buffer.from(text).toString('base64')
    return answer(body, { allowed: true, patchType: 'JSONPatch', patch })
  })
  await configure(api, hook, { sort: 'mutating', webhooks: [{ name: 'patch.test.dev' }] })
  for (const [operations, message] of patchFailures) {
    current = operations
    assertPart((await createMap(api, 'patched')).body, { message })
  }
})

test('a webhook with reinvocationPolicy IfNeeded is called again after another one has changed the object', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(({ body, path }) => {
    const has = (body as JsonReply).request.object.data?.late !== undefined
    return path.startsWith('/late') && !has
      ? answer(body, patchOf([{ op: 'add', path: '/data/late', value: 'x' }]))
      : answer(body, { allowed: true })
  })
  const asked = () => hook.requests.map(({ path }) => path.split('.')[0])
  const webhooks = [
    { name: 'again.test.dev', reinvocationPolicy: 'IfNeeded' },
    { name: 'once.test.dev' },
    { name: 'late.test.dev' },
  ]
  await configure(api, hook, { sort: 'mutating', webhooks })
  await createMap(api, 'changed')
  assert.deepEqual(asked(), ['/again', '/once', '/late', '/again'])
  await createMap(api, 'unchanged', { data: { late: 'y' } })
  assert.deepEqual(asked().slice(4), ['/again', '/once', '/late'])
})

test('a dry run reaches only webhooks without side effects; warnings reach the client', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(({ body }) =>
    answer(body, { allowed: true, warnings: ['look out'] }),
  )
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  await configure(api, hook, { webhooks: [{ name: 'dry.test.dev', sideEffects: 'NoneOnDryRun' }] })
  const reply = await callApi(api.transport, {
    method: 'POST',
    path: `${configMaps}?dryRun=All`,
    body: { metadata: { name: 'dry' } },
  })
  assert.equal(reply.headers['warning'], '299 - "look out"')
  assert.equal((await callApi(api.transport, { path: `${path}/test` })).status, 200)
})

test('connections are trusted by the bundle alone, and time is bounded', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(() => new Promise<WebhookReply>(() => undefined))
  await using other = await startTestWebhook(allow, { ipAddresses: ['10.1.2.3'] })
  const closed = 'https://127.0.0.1:1/x'
  const cases: [clientConfig: object, why: string | RegExp][] = [
    [{ url: `${hook.url}/x` }, /x\?timeout=1s": context deadline exceeded/],
    [
      { url: `${hook.url}/x`, caBundle: other.caBundle },
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    ],
    [
      { url: `${other.url}/x`, caBundle: other.caBundle },
      'tls: failed to verify certificate: x509: certificate is valid for 10.1.2.3, not 127.0.0.1',
    ],
    [
      { url: closed },
      `failed to call webhook: Post "${closed}?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused`,
    ],
    [
      { service: { namespace: 'default', name: 'none' } },
      'Post "https://none.default.svc:443/?timeout=1s": service "none" not found',
    ],
    [
      { url: closed, caBundle: Buffer.from('no pem').toString('base64') },
      'could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
    ],
  ]
  for (const [clientConfig, why] of cases) {
    const config =
      'caBundle' in clientConfig ? clientConfig : { ...clientConfig, caBundle: hook.caBundle }
    await configure(api, hook, {
      webhooks: [{ name: 'far.test.dev', clientConfig: config, timeoutSeconds: 1 }],
    })
    const { message } = (await createMap(api, 'far')).body
    assert.ok(typeof why === 'string' ? message.includes(why) : why.test(message), message)
  }
})

test('subresources and sessions are shown as such', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(allow)
  const all = {
    ...rule,
    apiGroups: ['*'],
    apiVersions: ['*'],
    resources: ['*/*'],
    operations: ['*'],
  }
  await configure(api, hook, { webhooks: [{ name: 'all.test.dev', rules: [all] }] })
  const deployments = '/apis/apps/v1/namespaces/default/deployments'
  await callApi(api.transport, {
    method: 'POST',
    path: deployments,
    body: {
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'a', image: 'b' }] },
        },
      },
    },
  })
  const headers = { 'content-type': 'application/merge-patch+json' }
  const body = { spec: { replicas: 3 } }
  const scaled = await callApi(api.transport, {
    method: 'PATCH',
    path: `${deployments}/web/scale`,
    headers,
    body,
  })
  assert.equal(scaled.status, 200, scaled.text)
  const { kind, subResource, object, oldObject } = requestOf(hook)
  assert.deepEqual([kind.kind, subResource], ['Scale', 'scale'])
  assert.deepEqual([object.spec, oldObject.spec], [{ replicas: 3 }, { replicas: 1 }])
})
