import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodDisruptionBudget, TokenRequest } from '@skerry/api'
import { generateKeyPair } from '@skerry/pki'
import { decodeJwt } from 'jose'
import { createTokenIssuer } from '../authn/token-issuer.ts'
import { ObjectTable } from '../testing/object-table.ts'
import { testStartMs } from '../testing/plugin-deps.ts'
import { stillClock } from '../testing/still-clock.ts'
import { subresourceRequest } from '../testing/subresource-request.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { createBindingHandler } from './binding.ts'
import { createEvictionHandler } from './eviction.ts'
import { createTokenHandler } from './service-account-token.ts'

const clock = stillClock(testStartMs)
const podNamed = (name: string, spec: object = {}, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, labels: { app: 'web' } },
  spec: { containers: [], ...spec },
  ...rest,
})
const podIn = (objects: ObjectTable, name: string) => {
  const pod = getTyped<Pod>(objects, wellKnown.pods, { namespace: 'shop', name })
  assert.ok(pod)
  return pod
}

test('binding puts a pod on a node once', async () => {
  const objects = new ObjectTable().put(wellKnown.pods, podNamed('web'))
  const bind = (target: object, metadata: object = {}, isDryRun = false) =>
    createBindingHandler(clock).serve(
      subresourceRequest({ objects, name: 'web', object: { metadata, target }, isDryRun }),
    )
  await bind({ kind: 'Node', name: 'n1' }, {}, true)
  assert.equal(podIn(objects, 'web').spec?.nodeName, undefined)
  await assert.rejects(bind({ name: 'n1' }, { uid: 'other' }), { code: 409 })
  await assert.rejects(bind({ kind: 'Rack', name: 'n1' }), /target.kind: Unsupported value/)
  await assert.rejects(bind({ name: 'n1' }, { name: 'other' }), { code: 400 })

  const answer = await bind({ kind: 'Node', name: 'n1' }, { annotations: { by: 'me' } })
  assert.equal(answer.status, 201)
  const pod = podIn(objects, 'web')
  assert.equal(pod.spec?.nodeName, 'n1')
  assert.equal(pod.metadata.annotations?.by, 'me')
  assert.deepEqual(pod.status?.conditions, [
    {
      type: 'PodScheduled',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: '2026-06-01T00:00:00Z',
    },
  ])
  await assert.rejects(bind({ name: 'n2' }), {
    code: 409,
    message:
      'Operation cannot be fulfilled on pods/binding "web": pod web is already assigned to node "n1"',
  })
})

test('a pod that is leaving or held by a gate is not bound', async () => {
  const objects = new ObjectTable()
    .put(wellKnown.pods, podNamed('held', { schedulingGates: [{ name: 'g' }] }))
    .put(wellKnown.pods, {
      metadata: { name: 'leaving', namespace: 'shop', deletionTimestamp: '2026-06-01T00:00:00Z' },
      spec: { containers: [] },
    })
  for (const [name, why] of [
    ['held', /non-empty .spec.schedulingGates/],
    ['leaving', /is being deleted/],
  ] as const) {
    const request = subresourceRequest({
      objects,
      name,
      object: { metadata: {}, target: { name: 'n1' } },
    })
    await assert.rejects(createBindingHandler(clock).serve(request), why)
  }
})

const running = (isReady: boolean) => ({
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
  },
})
const budget = (status: object, spec: object = {}) => ({
  metadata: { name: 'pdb', namespace: 'shop', generation: 1 },
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  status: { observedGeneration: 1, currentHealthy: 3, desiredHealthy: 2, ...status },
})
const evictions: {
  name: string
  pod: object
  budgets: object[]
  /** If omitted, the pod is deleted. */
  error?: object
  left?: number
}[] = [
  { name: 'no budget', pod: podNamed('web', {}, running(true)), budgets: [] },
  {
    name: 'a budget with room, which is spent',
    pod: podNamed('web', {}, running(true)),
    budgets: [budget({ disruptionsAllowed: 1 })],
    left: 0,
  },
  {
    name: 'a budget without room',
    pod: podNamed('web', {}, running(true)),
    budgets: [budget({ disruptionsAllowed: 0, currentHealthy: 2 })],
    error: {
      code: 429,
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: 'The disruption budget pdb needs 2 healthy pods and has 2 currently',
          },
        ],
      },
    },
  },
  {
    name: 'a budget that its controller has not seen',
    pod: podNamed('web', {}, running(true)),
    budgets: [budget({ disruptionsAllowed: 1, observedGeneration: 0 })],
    error: { code: 429 },
  },
  {
    name: 'two budgets',
    pod: podNamed('web', {}, running(true)),
    budgets: [
      budget({ disruptionsAllowed: 1 }),
      { ...budget({ disruptionsAllowed: 1 }), metadata: { name: 'two', namespace: 'shop' } },
    ],
    error: { code: 500 },
  },
  {
    name: 'an unready pod while enough others are healthy',
    pod: podNamed('web', {}, running(false)),
    budgets: [budget({ disruptionsAllowed: 0 })],
    left: 0,
  },
  {
    name: 'an unready pod while too few are healthy',
    pod: podNamed('web', {}, running(false)),
    budgets: [budget({ disruptionsAllowed: 0, currentHealthy: 1 })],
    error: { code: 429 },
  },
  {
    name: 'an unready pod that may always go',
    pod: podNamed('web', {}, running(false)),
    budgets: [
      budget(
        { disruptionsAllowed: 0, currentHealthy: 1 },
        { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      ),
    ],
    left: 0,
  },
  {
    name: 'a finished pod',
    pod: podNamed('web', {}, { status: { phase: 'Succeeded' } }),
    budgets: [budget({ disruptionsAllowed: 0 })],
    left: 0,
  },
]
for (const { name, pod, budgets, error, left } of evictions) {
  test(`eviction of ${name}`, async () => {
    const objects = new ObjectTable().put(wellKnown.pods, pod)
    for (const one of budgets) objects.put(wellKnown.podDisruptionBudgets, one)
    const attempt = createEvictionHandler(clock).serve(
      subresourceRequest({ objects, name: 'web', object: { metadata: { name: 'web' } } }),
    )
    if (error) {
      await assert.rejects(attempt, error)
      assert.ok(objects.get(wellKnown.pods, 'shop', 'web'))
      return
    }
    assert.equal((await attempt).status, 201)
    assert.equal(objects.get(wellKnown.pods, 'shop', 'web'), undefined)
    const after = objects.get(wellKnown.podDisruptionBudgets, 'shop', 'pdb')
    assert.equal(after && typed<PodDisruptionBudget>(after).status?.disruptionsAllowed, left)
  })
}

async function requestToken(spec: object, metadata: object = {}) {
  const { privateKeyPem } = await generateKeyPair()
  const objects = new ObjectTable()
    .put(wellKnown.serviceAccounts, { metadata: { name: 'robot', namespace: 'shop', uid: 'u1' } })
    .put(wellKnown.pods, podNamed('web', { serviceAccountName: 'robot', nodeName: 'n1' }))
    .put(wellKnown.pods, podNamed('other', { serviceAccountName: 'default' }))
    .put(wellKnown.nodes, { metadata: { name: 'n1', uid: 'uid-n1' } })
  const tokenIssuer = createTokenIssuer(
    { issuer: 'https://iss', signingKeyPem: privateKeyPem },
    clock,
  )
  const handler = createTokenHandler({ tokenIssuer, audiences: ['https://iss'] }, clock)
  const answer = await handler.serve(
    subresourceRequest({ objects, name: 'robot', object: { metadata, spec } }),
  )
  assert.ok(answer.type === 'object' && answer.status === 201)
  const { status } = typed<TokenRequest>(answer.object)
  return { claims: decodeJwt(status?.token ?? ''), expires: status?.expirationTimestamp }
}

test('a requested token lasts an hour and names account, pod and node', async () => {
  const { claims, expires } = await requestToken({
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web' },
  })
  assert.equal(expires, '2026-06-01T01:00:00Z')
  assert.equal(claims.exp, testStartMs / 1000 + 3600)
  assert.equal(claims.sub, 'system:serviceaccount:shop:robot')
  assert.deepEqual(claims.aud, ['https://iss'])
  assert.deepEqual(claims['kubernetes.io'], {
    namespace: 'shop',
    node: { name: 'n1', uid: 'uid-n1' },
    pod: { name: 'web', uid: 'uid-web' },
    serviceaccount: { name: 'robot', uid: 'u1' },
  })
})

test('an injected token lives a year but is reported as stale after an hour', async () => {
  const { claims, expires } = await requestToken({
    expirationSeconds: 3607,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web' },
  })
  assert.equal(expires, '2026-06-01T01:00:07Z')
  assert.equal(claims.exp, testStartMs / 1000 + 365 * 86_400)
  const own = claims['kubernetes.io'] as { warnafter: number }
  assert.equal(own.warnafter, testStartMs / 1000 + 3607)
})

const tokenRefusals: [name: string, spec: object, metadata: object, error: object][] = [
  [
    'too short',
    { expirationSeconds: 10 },
    {},
    {
      code: 422,
      message:
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
    },
  ],
  ['for another account', {}, { name: 'other' }, { code: 422 }],
  ['for an account of another uid', {}, { uid: 'old' }, { code: 409 }],
  [
    'bound to a pod of another account',
    { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'other' } },
    {},
    { code: 400 },
  ],
  [
    'bound to a pod that was created again',
    { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'old' } },
    {},
    { code: 409 },
  ],
  [
    'bound to a pod that is not there',
    { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'gone' } },
    {},
    { code: 404, message: 'pods "gone" not found' },
  ],
  [
    'bound to a kind that cannot hold it',
    { boundObjectRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    {},
    { code: 400, message: 'cannot bind token to object of type apps/v1, Kind=Deployment' },
  ],
]
for (const [name, spec, metadata, error] of tokenRefusals) {
  test(`a token ${name} is refused`, async () => {
    await assert.rejects(requestToken(spec, metadata), error)
  })
}
