import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger, simulatedClock, systemClock } from '@skerry/base'
import { createHttpsTransport } from '@skerry/client'
import {
  callApi,
  startTestApiServer,
  startTestWebhook,
  type TestWebhook,
  type WebhookReply,
  until,
} from '@skerry/testing'
import type { Attributes, Authorizer } from '../contract/access.ts'
import { readAuthorizationConfig } from './authorization-config.ts'
import { createConfiguredAuthorizers } from './configured-authorizers.ts'
import { createPostReview } from './post-review.ts'
import { createTokenWebhook } from './token-webhook.ts'

const random = seededRandom(1)
const never = new AbortController().signal
const user = { name: 'ada', groups: ['dev'], extra: { scope: ['a'] }, uid: '7' }
const pods = { group: '', version: 'v1', resource: 'pods' }
const question: Attributes = {
  user,
  verb: 'list',
  isResourceRequest: true,
  resource: pods,
  namespace: 'shop',
  path: '/api/v1/namespaces/shop/pods',
  fieldSelector: 'spec.nodeName=n1',
  labelSelector: 'app in (a,b)',
}
const silent: Authorizer = { authorize: async () => ({ verdict: 'no-opinion', reason: '' }) }
const rbac: Authorizer = {
  authorize: async ({ user: { name } }) => ({
    verdict: name === 'ada' ? 'allow' : 'no-opinion',
    reason: 'by role',
  }),
}

function transportTo(hook: TestWebhook) {
  const certificateAuthority = Buffer.from(hook.caBundle, 'base64').toString()
  return createHttpsTransport(
    { server: `${hook.url}/ask`, certificateAuthority },
    { clock: systemClock },
  )
}

const configOf = (webhook: object = {}, authorizers: readonly object[] = []): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: [
      {
        type: 'Webhook',
        name: 'first',
        webhook: {
          timeout: '3s',
          subjectAccessReviewVersion: 'v1',
          matchConditionSubjectAccessReviewVersion: 'v1',
          failurePolicy: 'Deny',
          connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/etc/hook' },
          ...webhook,
        },
      },
      ...authorizers,
    ],
  })

async function authorizerWith(text: string, hook: TestWebhook, clock = simulatedClock()) {
  const open = async () => transportTo(hook)
  const deps = { clock, random, log: silentLogger, open }
  const configured = await createConfiguredAuthorizers(readAuthorizationConfig(text), deps)
  return { configured, clock, authorizer: configured.authorizerOf({ Node: silent, RBAC: rbac }) }
}

test('a webhook is asked in its turn, and its answers are remembered as long as the file says', async () => {
  let status: object = { allowed: true, reason: 'because' }
  await using hook = await startTestWebhook(() => ({ status }))
  const { configured, clock, authorizer } = await authorizerWith(
    configOf({ authorizedTTL: '1m', unauthorizedTTL: '10s' }),
    hook,
  )
  using _owned = configured
  assert.deepEqual(await authorizer.authorize(question), { verdict: 'allow', reason: 'because' })
  await authorizer.authorize(question)
  assert.equal(hook.requests.length, 1)
  assert.equal(hook.requests[0]?.path, '/ask')
  assert.deepEqual(hook.requests[0]?.body, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: {
      resourceAttributes: {
        namespace: 'shop',
        verb: 'list',
        version: 'v1',
        resource: 'pods',
        fieldSelector: {
          requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }],
        },
        labelSelector: { requirements: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] },
      },
      user: 'ada',
      groups: ['dev'],
      extra: { scope: ['a'] },
      uid: '7',
    },
  })
  status = { allowed: false, denied: true, reason: 'no more' }
  await clock.advance(60_001)
  assert.deepEqual(await authorizer.authorize(question), { verdict: 'deny', reason: 'no more' })
  await clock.advance(9_000)
  await authorizer.authorize(question)
  assert.equal(hook.requests.length, 2)
  status = { allowed: false }
  await clock.advance(1_001)
  assert.equal((await authorizer.authorize(question)).verdict, 'no-opinion')
})

test('conditions decide whether a webhook is asked, and the policy decides what its failure means', async () => {
  let reply: WebhookReply | undefined = { status: { allowed: false, denied: true } }
  await using hook = await startTestWebhook(() => reply)
  const roles = [{ type: 'RBAC', name: 'roles' }]
  const conditions = (...expressions: string[]) => ({
    matchConditions: expressions.map((expression) => ({ expression })),
  })
  const broken = 'request.extra["none"][0] == "x"'
  const table: readonly [string, object, string, RegExp?][] = [
    ['not asked', conditions('request.resourceAttributes.namespace == "other"'), 'allow'],
    ['asked', conditions('request.user == "ada"', 'has(request.resourceAttributes)'), 'deny'],
    ['a failure and a no', conditions(broken, 'request.user == ""'), 'allow'],
    ['a failure', conditions(broken), 'deny', /resulted in error: no such key: none/],
    ['a failure ignored', { ...conditions(broken), failurePolicy: 'NoOpinion' }, 'allow'],
  ]
  for (const [name, webhook, verdict, error] of table) {
    const { configured, authorizer } = await authorizerWith(configOf(webhook, roles), hook)
    using _owned = configured
    const decision = await authorizer.authorize(question)
    assert.equal(decision.verdict, verdict, name)
    if (error) assert.match(decision.error?.message ?? '', error)
  }
  reply = { status: 403, text: 'go away' }
  const { configured, authorizer } = await authorizerWith(
    configOf({ failurePolicy: 'NoOpinion' }, roles),
    hook,
  )
  using _owned = configured
  assert.equal((await authorizer.authorize(question)).verdict, 'allow')
  const stranger = await authorizer.authorize({ ...question, user: { ...user, name: 'bob' } })
  assert.match(
    stranger.error?.message ?? '',
    /authorization webhook "first": it answered 403: go away/,
  )
})

test('a webhook that is away for a moment is asked again; a user who cannot be judged is not forbidden', async () => {
  const replies: WebhookReply[] = [{ status: 503, text: 'soon' }, { status: { allowed: true } }]
  await using hook = await startTestWebhook(
    () => replies.shift() ?? { status: 400, text: 'broken' },
  )
  const { configured, authorizer, clock } = await authorizerWith(configOf(), hook)
  using _owned = configured
  await using server = await startTestApiServer({
    access: () => ({
      authenticators: [],
      authorizers: [authorizer],
      admission: [],
      subresources: {},
    }),
  })
  const transport = server.transportAs(user)
  const first = callApi(transport, { path: '/api/v1/namespaces' })
  await until(async () => {
    await clock.advance(100)
    return hook.requests.length >= 2
  })
  assert.equal((await first).status, 200)
  const second = await callApi(transport, { path: '/api/v1/nodes' })
  assert.equal(second.status, 500)
  assert.match(
    second.body.message,
    /^Internal Server Error: "\/api\/v1\/nodes": authorization webhook "first": it answered/,
  )
})

test("the file may change while the server runs, but must keep the server's own authorizers", async () => {
  await using hook = await startTestWebhook(() => ({ status: { denied: true } }))
  const roles = { type: 'RBAC', name: 'roles' }
  const { configured, authorizer } = await authorizerWith(configOf({}, [roles]), hook)
  using _owned = configured
  assert.equal((await authorizer.authorize(question)).verdict, 'deny')
  const only = JSON.parse(configOf())
  only.authorizers = [roles]
  await configured.setConfig(readAuthorizationConfig(JSON.stringify(only)))
  assert.equal((await authorizer.authorize(question)).verdict, 'allow')
  await assert.rejects(
    configured.setConfig(readAuthorizationConfig(configOf())),
    /cannot be removed while the server runs: RBAC/,
  )
  assert.equal((await authorizer.authorize(question)).verdict, 'allow')
})

test('mistakes in the file are named with their place', () => {
  const bad: readonly [string, string][] = [
    [
      configOf({ timeout: '31s' }),
      'webhook.timeout: Invalid value: "31s": must be > 0s and <= 30s',
    ],
    [configOf({ failurePolicy: 'Maybe' }), 'supported values: "NoOpinion", "Deny"'],
    [configOf({}, [{ type: 'RBAC', name: 'first' }]), '[1].name: Duplicate value: "first"'],
    [configOf({}, [{ type: 'ABAC', name: 'x' }]), '[1].type: Unsupported value: "ABAC"'],
    [
      configOf({ matchConditions: [{ expression: 'request.user' }] }),
      'matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string',
    ],
    [
      configOf({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'hook' } }),
      'kubeConfigFile: Invalid value: "hook": must be an absolute path',
    ],
  ]
  for (const [text, message] of bad) {
    assert.throws(
      () => readAuthorizationConfig(text),
      (error: Error) => error.message.includes(message) || assert.fail(error.message),
    )
  }
})

test('a token webhook says whose token it is, for which audiences, and is not asked twice', async () => {
  const known = { username: 'ada', uid: '7', groups: ['dev'], extra: { scope: ['a'] } }
  let status: object = { authenticated: true, user: known, audiences: ['api', 'other'] }
  await using hook = await startTestWebhook(() => ({ status }))
  const clock = simulatedClock()
  using transport = transportTo(hook)
  const tokens = createTokenWebhook(
    createPostReview(transport, 10_000, {
      peer: 'authentication webhook',
      clock: systemClock,
      random,
    }),
    { version: 'v1', cacheMs: 120_000, audiences: ['api'] },
    { clock, log: silentLogger },
  )
  const ask = (token: string) => tokens.authenticateToken(token, ['api'], never)
  assert.deepEqual(await ask('secret'), { user, audiences: ['api'] })
  await ask('secret')
  assert.deepEqual(
    hook.requests.map(({ body }) => body),
    [
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: {},
        spec: { token: 'secret', audiences: ['api'] },
      },
    ],
  )
  await clock.advance(120_001)
  status = { authenticated: true, user: known, audiences: ['other'] }
  assert.equal(await ask('secret'), undefined)
  status = { authenticated: false, error: 'expired' }
  await assert.rejects(ask('another'), { name: 'TokenError', message: 'expired' })
  status = { authenticated: true, user: known }
  assert.deepEqual((await ask('another'))?.audiences, ['api'])
})
