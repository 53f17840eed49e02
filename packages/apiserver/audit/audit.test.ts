import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import {
  callApi,
  startTestApiServer,
  startTestWebhook,
  watchApi,
  type JsonReply,
  type TestApiServerOptions,
} from '@skerry/testing'
import { parseRequestInfo } from '../contract/request-info.ts'
import { protobufValue } from '../protobuf/protobuf-answer.ts'
import { readAuditPolicy } from './audit-policy.ts'
import { createAuditTrail } from './audit-trail.ts'

const policyOf = (rules: readonly unknown[], more: object = {}): string =>
  JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, ...more })
const user = { name: 'ada', groups: ['team', 'system:authenticated'], extra: {} }

test('the first rule that matches decides the level', () => {
  const secret = parseRequestInfo('GET', '/api/v1/namespaces/a/secrets/s')
  const log = parseRequestInfo('GET', '/api/v1/namespaces/a/pods/p/log')
  const health = parseRequestInfo('GET', '/healthz/ping')
  const table: readonly [object, typeof secret, boolean][] = [
    [{}, secret, true],
    [{ users: ['ada'] }, secret, true],
    [{ users: ['bob'] }, secret, false],
    [{ userGroups: ['team'] }, health, true],
    [{ verbs: ['list'] }, secret, false],
    [{ namespaces: ['a'] }, secret, true],
    [{ namespaces: ['a'] }, health, false],
    [{ resources: [{ group: '', resources: ['secrets'] }] }, secret, true],
    [{ resources: [{ group: '' }] }, log, true],
    [{ resources: [{ group: 'apps' }] }, secret, false],
    [{ resources: [{ group: '', resources: ['pods'] }] }, log, false],
    [{ resources: [{ group: '', resources: ['pods/*'] }] }, log, true],
    [{ resources: [{ group: '*', resources: ['*/log'] }] }, log, true],
    [{ resources: [{ group: '', resources: ['secrets'], resourceNames: ['t'] }] }, secret, false],
    [{ nonResourceURLs: ['/healthz*'] }, health, true],
    [{ nonResourceURLs: ['/healthz'] }, health, false],
  ]
  for (const [rule, info, isMatched] of table) {
    const policy = readAuditPolicy(policyOf([{ level: 'Metadata', ...rule }]))
    const { level } = policy.scopeOf(info, user)
    assert.equal(level, isMatched ? 'Metadata' : 'None', `${JSON.stringify(rule)} ${info.path}`)
  }
})

test('a policy with a mistake is refused with its place', () => {
  const bad: readonly [string, RegExp][] = [
    [policyOf([]), /0 rules/],
    [policyOf([{ level: 'All' }]), /rules\[0\]\.level: Unsupported value: "All"/],
    [policyOf([{ level: 'None', verb: ['get'] }]), /unknown field "rules\[0\]\.verb"/],
    [policyOf([{ level: 'None', nonResourceURLs: ['x'] }]), /must begin with a '\/'/],
    [policyOf([{ level: 'None', omitStages: ['End'] }]), /no stage "End"/],
  ]
  for (const [text, message] of bad) assert.throws(() => readAuditPolicy(text), message)
})

const configMaps = '/api/v1/namespaces/default/configmaps'
const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } }

async function withTrail(
  policy: string,
  run: (
    server: Awaited<ReturnType<typeof startTestApiServer>>,
    events: JsonReply[],
  ) => Promise<void>,
  options: TestApiServerOptions = {},
): Promise<void> {
  const events: JsonReply[] = []
  const auditTrail = createAuditTrail(
    {
      policy: readAuditPolicy(policy),
      write: (line) => void events.push(JSON.parse(line)),
      bodyBytesMax: 65_536,
    },
    systemClock,
  )
  await using server = await startTestApiServer({ withAccess: true, auditTrail, ...options })
  events.length = 0
  await run(server, events)
}

test('a protobuf request and its answer are recorded in the event as JSON would be', async () => {
  const rules = [{ level: 'RequestResponse', verbs: ['create'] }]
  await withTrail(policyOf(rules), async ({ transport }, events) => {
    const type = 'application/vnd.kubernetes.protobuf'
    const headers = { 'content-type': type, accept: type }
    const bytes = (await protobufValue(body)) ?? new Uint8Array(0)
    const request = { method: 'POST', path: configMaps, headers, body: bytes } as const
    const answer = await transport.send(request, AbortSignal.timeout(10_000))
    await Array.fromAsync(answer.body)
    assert.equal(answer.status, 201)
    const created = events.at(-1) ?? {}
    assert.equal(created.stage, 'ResponseComplete')
    assert.deepEqual(created.requestObject.data, { k: 'v' })
    assert.equal(created.responseObject.kind, 'ConfigMap')
    assert.deepEqual(created.responseObject.data, { k: 'v' })
  })
})

test('each stage of a request is an event; levels say how much is in it', async () => {
  const rules = [
    { level: 'Metadata', verbs: ['get'] },
    {
      level: 'RequestResponse',
      resources: [{ group: '', resources: ['configmaps'] }],
      omitManagedFields: true,
    },
  ]
  await withTrail(policyOf(rules), async (server, events) => {
    await callApi(server.transport, { method: 'POST', path: configMaps, body })
    await callApi(server.transport, { path: `${configMaps}/a` })
    const [received, created, asked, answered] = events
    assert.deepEqual(
      events.map(({ stage, level }) => [stage, level]),
      [
        ['RequestReceived', 'RequestResponse'],
        ['ResponseComplete', 'RequestResponse'],
        ['RequestReceived', 'Metadata'],
        ['ResponseComplete', 'Metadata'],
      ],
    )
    assert.equal(received.apiVersion, 'audit.k8s.io/v1')
    assert.equal(received.responseStatus, undefined)
    assert.equal(created.auditID, received.auditID)
    assert.equal(created.verb, 'create')
    assert.equal(created.requestURI, configMaps)
    assert.deepEqual(created.objectRef, {
      resource: 'configmaps',
      namespace: 'default',
      name: 'a',
      apiVersion: 'v1',
    })
    assert.deepEqual(created.responseStatus, { metadata: {}, code: 201 })
    assert.deepEqual(created.requestObject.data, { k: 'v' })
    assert.equal(created.responseObject.metadata.managedFields, undefined)
    assert.equal(created.annotations['authorization.k8s.io/decision'], 'allow')
    assert.match(created.stageTimestamp, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z$/)
    assert.equal(asked.user.username, 'kubernetes-admin')
    assert.equal(answered.responseObject, undefined)
  })
})

test('an event records who acted as whom, and why a request was refused', async () => {
  await withTrail(
    policyOf([{ level: 'Metadata', omitStages: ['RequestReceived'] }]),
    async (server, events) => {
      const headers = { 'impersonate-user': 'ada' }
      await callApi(server.transport, { path: configMaps, headers })
      const [event] = events
      assert.equal(event.user.username, 'kubernetes-admin')
      assert.equal(event.impersonatedUser.username, 'ada')
      assert.equal(event.annotations['authorization.k8s.io/decision'], 'forbid')
      assert.equal(event.responseStatus.code, 403)
      assert.equal(event.responseStatus.reason, 'Forbidden')
      assert.match(event.responseStatus.message, /User "ada" cannot list/)
    },
  )
})

test('a watch is recorded when it starts and when it ends', async () => {
  await withTrail(policyOf([{ level: 'RequestResponse' }]), async (server, events) => {
    const stop = new AbortController()
    await callApi(server.transport, { method: 'POST', path: configMaps, body })
    events.length = 0
    for await (const line of watchApi(server.transport, `${configMaps}?watch=1`, stop.signal)) {
      assert.equal(line.type, 'ADDED')
      assert.deepEqual(
        events.map(({ stage }) => stage),
        ['RequestReceived', 'ResponseStarted'],
      )
      break
    }
    stop.abort()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(events.at(-1).stage, 'ResponseComplete')
  })
})

test('a request at which the server itself fails is recorded as such', async () => {
  const broken = async (): Promise<never> => {
    throw new TypeError('a mistake')
  }
  for (const hasFlowControl of [false, true]) {
    await withTrail(
      policyOf([{ level: 'Metadata', nonResourceURLs: ['/broken'] }]),
      async (server, events) => {
        assert.equal((await callApi(server.transport, { path: '/broken' })).status, 500)
        assert.deepEqual(
          events.map(({ stage }) => stage),
          ['RequestReceived', 'Panic'],
        )
        assert.deepEqual(events[1].responseStatus, {
          metadata: {},
          status: 'Failure',
          message: "APIServer panic'd: a mistake",
          reason: 'InternalError',
          code: 500,
        })
      },
      { hasFlowControl, routes: [{ prefix: '/broken', serve: broken }] },
    )
  }
})

test("an error about a peer's answer is not a panic of the server", async () => {
  await using webhook = await startTestWebhook(({ body: review }) => {
    // A review has a request with a uid.
    const { uid } = (review as { request: { uid: string } }).request
    const patch = Buffer.from('[{"op":"remove","path":"/none"}]').toString('base64')
    const response = { uid, allowed: true, patch, patchType: 'JSONPatch' }
    return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }
  })
  const url = { patches: webhook.url, unreachable: 'https://127.0.0.1:1/' }
  // The words of upstream 1.36.3's patch library (recorded in admission-policies/testdata).
  const says = {
    patches:
      /^Internal error occurred: error in remove for path: '\/none': Unable to remove nonexistent key: none: missing value$/,
    unreachable:
      /^Internal error occurred: failed calling webhook "odd\.example\.com": failed to call webhook: /,
  }
  const rules = [
    { level: 'Metadata', verbs: ['create'], resources: [{ resources: ['configmaps'] }] },
  ]
  for (const name of ['patches', 'unreachable'] as const) {
    const address = url[name]
    await withTrail(policyOf(rules), async (server, events) => {
      const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
      const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }
      const one = {
        name: 'odd.example.com',
        clientConfig: { url: address, caBundle: webhook.caBundle },
        rules: [{ ...rule, operations: ['CREATE'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      }
      const made = { metadata: { name: 'odd' }, webhooks: [one] }
      await callApi(server.transport, { method: 'POST', path, body: made })
      events.length = 0
      const reply = await callApi(server.transport, { method: 'POST', path: configMaps, body })
      assert.deepEqual([reply.status, reply.body.reason], [500, 'InternalError'], name)
      assert.match(reply.body.message, says[name])
      const stages = events.map(({ stage }) => stage)
      assert.deepEqual(stages, ['RequestReceived', 'ResponseComplete'], name)
    })
  }
})
