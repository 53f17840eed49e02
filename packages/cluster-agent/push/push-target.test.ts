import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import type { Cluster, ClusterSpec, SecretReference } from '@skerry/fleet-kinds'
import { writtenByAgentKey } from '@skerry/membership'
import { planPush } from './push-target.ts'

const namespace = 'karmada-cluster'

function secret(name: string, data: Record<string, string>, writtenBy?: string): AnyObject {
  const annotations: Record<string, string> = writtenBy ? { [writtenByAgentKey]: writtenBy } : {}
  const encoded = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ])
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name, annotations },
    data: Object.fromEntries(encoded),
  }
}

const secrets = [
  secret('shop', { token: 'all\n', caBundle: 'PEM' }),
  secret('shop-impersonator', { token: 'users' }),
  secret('bare', { caBundle: 'PEM' }),
  secret('planted', { token: 'mine', caBundle: 'PEM' }, 'farm'),
]

function planOf(spec: Partial<ClusterSpec>) {
  const cluster: Cluster = {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'shop' },
    spec: {
      syncMode: 'Push',
      apiEndpoint: 'https://shop.example:6443',
      secretRef: { namespace, name: 'shop' },
      ...spec,
    },
  }
  return planPush(cluster, (asked: SecretReference) =>
    secrets.find(
      ({ metadata }) => metadata.name === asked.name && metadata.namespace === asked.namespace,
    ),
  )
}

test('a cluster is dialled as its Cluster and secrets say', () => {
  const usual = {
    server: 'https://shop.example:6443',
    certificateAuthority: 'PEM',
    proxy: undefined,
    token: 'all',
    impersonator: undefined,
  }
  const impersonatorSecretRef = { namespace, name: 'shop-impersonator' }
  const proxy = { url: 'http://proxy:3128', login: undefined, headers: {} }
  const table: [Partial<ClusterSpec>, object][] = [
    [{}, usual],
    [{ impersonatorSecretRef }, { ...usual, impersonator: { token: 'users', namespace } }],
    [{ insecureSkipTLSVerification: true }, { ...usual, certificateAuthority: undefined }],
    [{ proxyURL: 'http://proxy:3128' }, { ...usual, proxy }],
    [
      { proxyURL: 'https://keeper:p%40ss@proxy', proxyHeader: { 'X-Site': 'north,south' } },
      {
        ...usual,
        proxy: {
          url: 'https://proxy',
          login: { user: 'keeper', password: 'p@ss' },
          headers: { 'x-site': ['north', 'south'] },
        },
      },
    ],
  ]
  for (const [spec, target] of table) {
    assert.deepEqual(planOf(spec), { target }, JSON.stringify(spec))
  }
})

test('a cluster that cannot be dialled says why, and reveals no secret', () => {
  const table: [Partial<ClusterSpec>, RegExp][] = [
    [{ apiEndpoint: '' }, /apiEndpoint/],
    [{ apiEndpoint: '10.0.0.1:6443' }, /apiEndpoint/],
    [{ apiEndpoint: 'http://shop.example' }, /apiEndpoint/],
    [{ apiEndpoint: 'https://keeper:pass@shop.example' }, /apiEndpoint/],
    [{ proxyURL: 'socks5://proxy' }, /proxyURL/],
    [{ proxyURL: 'http://proxy/path' }, /proxyURL/],
    [{ secretRef: {} }, /^spec\.secretRef is not there/],
    [{ secretRef: { namespace, name: 'gone' } }, /"karmada-cluster\/gone" .* is not there/],
    [{ secretRef: { namespace: 'default', name: 'shop' } }, /"default\/shop" .* is not there/],
    [{ secretRef: { namespace, name: 'bare' } }, /has no token/],
    [{ secretRef: { namespace, name: 'shop-impersonator' } }, /has no caBundle/],
    [{ secretRef: { namespace, name: 'planted' } }, /was written by an agent/],
    [{ impersonatorSecretRef: { namespace, name: 'planted' } }, /was written by an agent/],
  ]
  for (const [spec, expected] of table) {
    const plan = planOf(spec)
    const refusal = 'refusal' in plan ? plan.refusal : ''
    assert.match(refusal, expected, JSON.stringify(spec))
    assert.doesNotMatch(refusal, /mine|users|all|pass|PEM/)
  }
})
