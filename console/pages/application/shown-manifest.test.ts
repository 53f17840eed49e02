import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparedYaml } from './shown-manifest.ts'

test('bookkeeping and the order of fields make no difference between a cluster and the hub', () => {
  const template = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: '1',
      resourceVersion: '9',
      labels: { app: 'web', 'propagationpolicy.karmada.io/permanent-id': 'x' },
      annotations: { 'propagationpolicy.karmada.io/name': 'web' },
    },
    spec: { replicas: 6, template: { b: 1, a: [{ d: 1, c: 2 }] } },
    status: { replicas: 6 },
  }
  const manifest = {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: {
      namespace: 'shop',
      name: 'web',
      labels: { 'work.karmada.io/permanent-id': 'y', app: 'web' },
      annotations: { 'work.karmada.io/namespace': 'karmada-es-pilot' },
    },
    spec: { template: { a: [{ c: 2, d: 1 }], b: 1 }, replicas: 2 },
  }
  assert.equal(comparedYaml(manifest), comparedYaml(template).replace('replicas: 6', 'replicas: 2'))
  assert.ok(
    comparedYaml(template).startsWith(
      'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n',
    ),
  )
})

test('labels that only look like those of the fleet stay', () => {
  const text = comparedYaml({
    metadata: { labels: { 'notkarmada.io/x': 'a', 'karmada.io/y': 'b' } },
  })
  assert.match(text, /notkarmada\.io\/x: a/)
  assert.doesNotMatch(text, / karmada\.io\/y/)
})
