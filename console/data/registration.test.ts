import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accepted,
  clusterAsked,
  isPending,
  registrationFacts,
  type AgentRequest,
} from './registration.ts'

const request: AgentRequest = {
  metadata: {
    name: 'csr-1',
    annotations: { 'hub.skerry.io/agent-version': '0.1.0', 'hub.skerry.io/waits-for': 'a person' },
  },
  spec: {
    request: 'x',
    signerName: 'kubernetes.io/kube-apiserver-client',
    username: 'system:bootstrap:abcdef',
    groups: ['system:authenticated', 'system:bootstrappers:karmada:agent:shop-7'],
    extra: { 'hub.skerry.io/source-address': ['10.0.0.9'] },
  },
}

test('a token’s request for one cluster waits for a person until it is decided', () => {
  assert.equal(clusterAsked(request), 'shop-7')
  assert.ok(isPending(request))
  for (const type of ['Approved', 'Denied']) {
    assert.ok(!isPending({ ...request, status: { conditions: [{ type }] } }))
  }
  const { spec } = request
  const others = [
    { ...spec, username: 'alice' },
    { ...spec, signerName: 'kubernetes.io/kubelet-serving' },
    { ...spec, groups: [...(spec.groups ?? []), 'system:bootstrappers:karmada:agent:b'] },
  ]
  for (const each of others) assert.ok(!isPending({ ...request, spec: each }))
})

test('a person sees where the request came from, and why it waits', () => {
  assert.deepEqual(registrationFacts(request), {
    address: '10.0.0.9',
    version: '0.1.0',
    waitsFor: 'a person',
  })
})

test('an accepted request has the decision and keeps everything else', () => {
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'Accepted',
    message: 'A person accepted the agent.',
    lastUpdateTime: '2026-01-01T00:00:00Z',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  assert.deepEqual(accepted(request, Date.UTC(2026, 0)), {
    ...request,
    status: { conditions: [condition] },
  })
})
