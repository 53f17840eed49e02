import { test } from 'node:test'
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { once } from 'node:events'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { generateKeyPair, signCertificate } from '@skerry/pki'
import {
  callApi,
  startTestApiServer,
  startTestWebhook,
  type JsonReply,
  type TestApiServer,
  type WebhookReply,
} from '@skerry/testing'
import { createDefaultAccess, type DefaultAccessOptions } from '../default-access.ts'

const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const configMaps = '/api/v1/namespaces/default/configmaps'

const allow = ({ body }: { body: unknown }): WebhookReply => {
  const { apiVersion, request } = body as JsonReply
  return { apiVersion, kind: 'AdmissionReview', response: { uid: request.uid, allowed: true } }
}

const everything = Object.freeze({
  apiGroups: ['*'],
  apiVersions: ['*'],
  operations: ['*'],
  resources: ['*/*'],
})

async function configure(api: TestApiServer, webhook: object): Promise<void> {
  await callApi(api.transport, { method: 'DELETE', path: `${path}/test` })
  const body = {
    metadata: { name: 'test' },
    webhooks: [
      {
        name: 'a.test.dev',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [everything],
        ...webhook,
      },
    ],
  }
  const reply = await callApi(api.transport, { method: 'POST', path, body })
  assert.equal(reply.status, 201, reply.text)
}

function create(api: TestApiServer, name: string) {
  const body = { metadata: { name }, data: { a: 'b' } }
  return callApi(api.transport, { method: 'POST', path: configMaps, body })
}

async function withAccess(options: Partial<DefaultAccessOptions>): Promise<TestApiServer> {
  const { privateKeyPem: signingKeyPem } = await generateKeyPair()
  const serviceAccounts = { issuer: 'https://kubernetes.default.svc', signingKeyPem }
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  return startTestApiServer({ access: createDefaultAccess({ serviceAccounts, ...options }, deps) })
}

const conditions: [expressions: string[], policy: string, answer: number | string][] = [
  [['true'], 'Fail', 'asked'],
  [['object.data.a == "b"', 'request.operation == "CREATE"'], 'Fail', 'asked'],
  [['authorizer.requestResource.check("create").allowed()'], 'Fail', 'asked'],
  [['false'], 'Fail', 201],
  [['object.data.none == "b"', 'false'], 'Fail', 201],
  [['object.data.none == "b"'], 'Ignore', 201],
  [['object.data.none == "b"'], 'Fail', 403],
]

test('conditions of a webhook decide whether it is asked', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(allow)
  for (const [index, [expressions, failurePolicy, answer]] of conditions.entries()) {
    await configure(api, {
      clientConfig: { url: hook.url, caBundle: hook.caBundle },
      failurePolicy,
      matchConditions: expressions.map((expression, at) => ({ name: `c${at}`, expression })),
    })
    const before = hook.requests.length
    const { status, body } = await create(api, `c${index}`)
    const isAsked = hook.requests.length > before
    assert.equal(isAsked ? 'asked' : status, answer, expressions.join())
    if (status !== 403) continue
    assert.equal(
      body.message,
      `configmaps "c${index}" is forbidden: expression 'object.data.none == "b"' resulted in error: no such key: none`,
    )
  }
})

test('a webhook that knows only the older review gets that one', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(() => ({
    apiVersion: 'admission.k8s.io/v1beta1',
    kind: 'AdmissionReview',
    response: { allowed: false, status: { message: 'old' } },
  }))
  await configure(api, {
    clientConfig: { url: hook.url, caBundle: hook.caBundle },
    admissionReviewVersions: ['v2', 'v1beta1'],
  })
  const { body } = await create(api, 'old')
  assert.equal(body.message, 'admission webhook "a.test.dev" denied the request: old')
  const review = hook.requests[0]?.body as JsonReply
  assert.equal(review.apiVersion, 'admission.k8s.io/v1beta1')
})

test('a service is reached at one of its pods, by the name of the service', async () => {
  await using hook = await startTestWebhook(allow, {
    dnsNames: ['hook.default.svc'],
    ipAddresses: [],
  })
  const dialled: string[] = []
  const dial = {
    dialNode: async () => Promise.reject(new Error('no nodes')),
    async dialAddress({ host, port }: { host: string; port: number }) {
      dialled.push(`${host}:${port}`)
      const socket = connect({ host: '127.0.0.1', port: hook.port })
      await once(socket, 'connect')
      return socket
    },
  }
  await using api = await withAccess({ dial })
  const post = (resource: string, body: object) =>
    callApi(api.transport, { method: 'POST', path: `/api/v1/namespaces/default/${resource}`, body })
  await post('services', {
    metadata: { name: 'hook' },
    spec: { selector: { app: 'hook' }, ports: [{ port: 443, targetPort: 8443 }] },
  })
  await post('endpoints', {
    metadata: { name: 'hook' },
    subsets: [{ addresses: [{ ip: '10.244.1.7' }], ports: [{ port: 8443 }] }],
  })
  await configure(api, {
    rules: [{ ...everything, resources: ['configmaps'] }],
    clientConfig: {
      service: { namespace: 'default', name: 'hook', path: '/check' },
      caBundle: hook.caBundle,
    },
  })
  const reply = await create(api, 'a')
  assert.equal(reply.status, 201, reply.text)
  assert.equal((await create(api, 'b')).status, 201)
  assert.deepEqual(dialled, ['10.244.1.7:8443'])
  const { path: asked, headers } = hook.requests[0] ?? {}
  assert.deepEqual([asked, headers?.['host']], ['/check?timeout=10s', 'hook.default.svc:443'])
  const empty = { metadata: { name: 'hook' }, subsets: [] }
  const endpoints = '/api/v1/namespaces/default/endpoints/hook'
  await callApi(api.transport, { method: 'PUT', path: endpoints, body: empty })
  await configure(api, {
    clientConfig: { service: { namespace: 'default', name: 'hook', port: 443 } },
  })
  assert.equal(
    (await create(api, 'c')).body.message,
    'Internal error occurred: failed calling webhook "a.test.dev": failed to call webhook: Post "https://hook.default.svc:443/?timeout=10s": no endpoints available for service "hook"',
  )
})

test('a busy webhook is asked again at the time that it names, but not forever', async () => {
  let busy = 2
  const headers = { 'retry-after': '0' }
  await using webhook = await startTestWebhook((request) => {
    busy -= 1
    return busy >= 0 ? { status: 429, text: 'busy', headers } : allow(request)
  })
  await using api = await withAccess({})
  const clientConfig = { url: `${webhook.url}/busy`, caBundle: webhook.caBundle }
  const rules = [{ ...everything, resources: ['configmaps'] }]
  await configure(api, { clientConfig, rules })
  assert.equal((await create(api, 'later')).status, 201)
  assert.equal(webhook.requests.length, 3)
  busy = 100
  const refused = await create(api, 'never')
  assert.equal(refused.status, 500)
  assert.match(refused.text, /has received too many requests and has asked us to try again later/)
  assert.equal(webhook.requests.length, 3 + 11)
})

test('webhooks see an identity where one is configured', async () => {
  await using issuing = await startTestApiServer()
  const { authority } = issuing
  const keys = await generateKeyPair()
  const nowMs = Date.now()
  const certificatePem = await signCertificate(authority, {
    subject: { commonName: 'kube-apiserver' },
    publicKeyPem: keys.publicKeyPem,
    notBeforeMs: nowMs - 60_000,
    notAfterMs: nowMs + 3_600_000,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  const identity = { certificatePem, privateKeyPem: keys.privateKeyPem }
  await using api = await withAccess({ webhookIdentity: () => identity })
  await using hook = await startTestWebhook(allow, { clientCa: authority.certificatePem })
  await configure(api, { clientConfig: { url: hook.url, caBundle: hook.caBundle } })
  assert.equal((await create(api, 'a')).status, 201)
  assert.equal(hook.requests[0]?.clientName, 'kube-apiserver')
})

test('a pod that a webhook changed goes through the server’s own plugins again, which change nothing twice', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(({ body }) => {
    const { apiVersion, request } = body as JsonReply
    const patch = [{ op: 'add', path: '/metadata/annotations', value: { seen: 'yes' } }]
    const response = {
      uid: request.uid,
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    }
    return { apiVersion, kind: 'AdmissionReview', response }
  })
  await callApi(api.transport, {
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts',
    body: { metadata: { name: 'default' } },
  })
  await callApi(api.transport, {
    method: 'POST',
    path: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    body: {
      metadata: { name: 'test' },
      webhooks: [
        {
          name: 'a.test.dev',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          rules: [{ ...everything, operations: ['CREATE'], resources: ['pods'] }],
          clientConfig: { url: hook.url, caBundle: hook.caBundle },
        },
      ],
    },
  })
  const reply = await callApi(api.transport, {
    method: 'POST',
    path: '/api/v1/namespaces/default/pods',
    body: { metadata: { name: 'web' }, spec: { containers: [{ name: 'a', image: 'b' }] } },
  })
  assert.equal(reply.status, 201, reply.text)
  const { metadata, spec } = reply.body
  assert.equal(metadata.annotations.seen, 'yes')
  assert.equal(spec.volumes.length, 1)
  assert.equal(spec.containers[0].volumeMounts.length, 1)
  assert.equal(spec.tolerations.length, 2)
  assert.equal(hook.requests.length, 1)
})

test('a session is shown as the connection that it is, and can be refused', async () => {
  const dial = {
    dialNode: async () => Promise.reject(new Error('no nodes')),
    dialAddress: async () => Promise.reject(new Error('never dialled')),
  }
  await using api = await withAccess({ dial })
  await using hook = await startTestWebhook(({ body }) => {
    const { apiVersion, request } = body as JsonReply
    return { apiVersion, kind: 'AdmissionReview', response: { uid: request.uid, allowed: false } }
  })
  const services = '/api/v1/namespaces/default/services'
  await callApi(api.transport, {
    method: 'POST',
    path: services,
    body: { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } },
  })
  await callApi(api.transport, {
    method: 'POST',
    path: '/api/v1/namespaces/default/endpoints',
    body: {
      metadata: { name: 'web' },
      subsets: [{ addresses: [{ ip: '10.244.1.7' }], ports: [{ port: 80 }] }],
    },
  })
  await configure(api, {
    rules: [{ ...everything, operations: ['CONNECT'], resources: ['services/proxy'] }],
    clientConfig: { url: hook.url, caBundle: hook.caBundle },
  })
  const reply = await callApi(api.transport, { path: `${services}/web/proxy/inner/path` })
  assert.equal(
    reply.body.message,
    'admission webhook "a.test.dev" denied the request without explanation',
  )
  const review = hook.requests[0]?.body as JsonReply
  const { operation, kind, subResource, object, options } = review.request
  assert.deepEqual(
    [operation, kind.kind, subResource, options],
    ['CONNECT', 'ServiceProxyOptions', 'proxy', null],
  )
  assert.deepEqual(object, { kind: 'ServiceProxyOptions', apiVersion: 'v1', path: '/inner/path' })
})
