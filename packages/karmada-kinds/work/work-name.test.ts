import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workNameOf } from './work-name.ts'

test('a Work has the name that Karmada gives it', () => {
  const names = [
    workNameOf({ kind: 'Deployment', namespace: 'default', name: 'nginx' }),
    workNameOf({ kind: 'Namespace', name: 'edge' }),
    workNameOf({ kind: 'ClusterRole', name: 'system:foo' }),
  ]
  assert.deepEqual(names, ['nginx-687f7fb96f', 'edge-7b7bcfcb58', 'system.foo-5f7d88f69'])
})

test('colons and capitals of roles become characters that a name may have', () => {
  assert.match(
    workNameOf({ kind: 'RoleBinding', namespace: 'shop', name: 'system:Leader:Under' }),
    /^system\.leader\.under-[bcdfghjklmnpqrstvwxz2456789]{1,10}$/,
  )
})
