import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from 'commander'
import { collectKept, collectTaint, toLinkLocal } from './node-flags.ts'

const taints: readonly [string, object][] = [
  ['dedicated=video:NoSchedule', { key: 'dedicated', value: 'video', effect: 'NoSchedule' }],
  ['example.com/gpu:NoExecute', { key: 'example.com/gpu', effect: 'NoExecute' }],
  ['a=:PreferNoSchedule', { key: 'a', effect: 'PreferNoSchedule' }],
]
for (const [text, taint] of taints) {
  test(`${text} is a taint`, () => assert.deepEqual(collectTaint(text, []), [taint]))
}

for (const text of [
  '',
  'a',
  'a=b',
  ':NoSchedule',
  '=b:NoSchedule',
  'a=b:Never',
  'a b:NoSchedule',
  'a=b c:NoSchedule',
  'a/b/c:NoSchedule',
  'a=b=c:NoSchedule',
]) {
  test(`${JSON.stringify(text)} is not a taint`, () => {
    assert.throws(() => collectTaint(text, []), InvalidArgumentError)
  })
}

test('a key has each effect once', () => {
  const one = collectTaint('a=b:NoSchedule', [])
  assert.equal(collectTaint('a=b:NoExecute', one).length, 2)
  assert.throws(() => collectTaint('a=c:NoSchedule', one), /there is a taint a:NoSchedule already/)
})

const kept: readonly [string, object][] = [
  ['configmaps', { resource: 'configmaps', group: '', namespace: '' }],
  ['configmaps/shop', { resource: 'configmaps', group: '', namespace: 'shop' }],
  [
    'leases.coordination.k8s.io',
    { resource: 'leases', group: 'coordination.k8s.io', namespace: '' },
  ],
  ['deployments.apps/shop', { resource: 'deployments', group: 'apps', namespace: 'shop' }],
]
for (const [text, part] of kept) {
  test(`${text} is a part of the API`, () => assert.deepEqual(collectKept(text, []), [part]))
}

for (const text of ['', '/shop', 'ConfigMap', 'configmaps/', 'configmaps/a/b', 'configmaps/Shop']) {
  test(`${JSON.stringify(text)} is not a part of the API`, () => {
    assert.throws(() => collectKept(text, []), InvalidArgumentError)
  })
}

test('only a link-local address means each machine itself', () => {
  assert.equal(toLinkLocal('169.254.20.11'), '169.254.20.11')
  for (const text of ['10.0.0.1', '169.254.20', '169.254.1.256', 'fe80::1', '']) {
    assert.throws(() => toLinkLocal(text), InvalidArgumentError)
  }
})
