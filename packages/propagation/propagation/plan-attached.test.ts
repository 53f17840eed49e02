import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import type { BindingSpec, ResourceBinding } from '@skerry/karmada-kinds'
import { attachedBinding, isDependent, withoutParent, withParent } from './plan-attached.ts'

const object: AnyObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name: 'settings', uid: 'u', labels: { tier: 'front' } },
}

function parent(name: string, spec: Partial<BindingSpec> = {}): ResourceBinding {
  const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name }
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: {
      namespace: 'shop',
      name: `${name}-deployment`,
      labels: { 'resourcebinding.karmada.io/permanent-id': `id-of-${name}` },
    },
    spec: { resource, clusters: [{ name: 'reef', replicas: 1 }], ...spec },
  }
}

test("the binding of a dependent names its parent, and has the parent's clusters", () => {
  const made = attachedBinding(parent('web'), object)
  assert.equal(made.metadata.name, 'settings-configmap')
  assert.deepEqual(made.spec.requiredBy, [
    { namespace: 'shop', name: 'web-deployment', clusters: [{ name: 'reef', replicas: 1 }] },
  ])
  const labels = Object.entries(made.metadata.labels ?? {})
  assert.match(labels[0]?.[0] ?? '', /^resourcebinding\.karmada\.io\/depended-by-[a-z0-9]+$/)
  assert.equal(labels[0]?.[1], 'id-of-web')
})

test('a dependent of two parents is where either is, and nowhere when both are gone', () => {
  const [web, till] = [parent('web'), parent('till', { clusters: [{ name: 'shore' }] })]
  const one = attachedBinding(web, object)
  const both = withParent(one, till, { object, parents: [web, till] })
  assert.deepEqual(
    both.spec.requiredBy?.map(({ name, clusters }) => [name, clusters?.map((each) => each.name)]),
    [
      ['web-deployment', ['reef']],
      ['till-deployment', ['shore']],
    ],
  )
  const moved = parent('web', { clusters: [{ name: 'cove' }] })
  const again = withParent(both, moved, { object, parents: [moved, till] })
  assert.equal(again.spec.requiredBy?.[0]?.clusters?.[0]?.name, 'cove')
  const left = withoutParent(again, moved, [till])
  assert.deepEqual(
    left.spec.requiredBy?.map(({ name }) => name),
    ['till-deployment'],
  )
  const none = withoutParent(left, till, [])
  assert.deepEqual([none.spec.requiredBy, none.metadata.labels], [[], {}])
})

test("a parent's settings for a dependent apply, unless the dependent has a policy of its own", () => {
  const careful = parent('web', { preserveResourcesOnDeletion: true })
  const bold = parent('till', { conflictResolution: 'Overwrite' })
  const both = withParent(attachedBinding(careful, object), bold, {
    object,
    parents: [careful, bold],
  })
  assert.deepEqual(
    [both.spec.conflictResolution, both.spec.preserveResourcesOnDeletion],
    ['Overwrite', true],
  )
  const alone = withoutParent(both, careful, [bold])
  assert.equal(alone.spec.preserveResourcesOnDeletion, false)
  const own = { ...both, spec: { ...both.spec, placement: {} } }
  assert.equal(withoutParent(own, careful, [bold]).spec.preserveResourcesOnDeletion, true)
})

test('dependents are known by name or by label', () => {
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop' }
  const given = { ...ref, name: 'settings', labels: { tier: 'front' } }
  const byLabel = (tier: string) => ({ ...ref, labelSelector: { matchLabels: { tier } } })
  assert.ok(isDependent(given, [{ ...ref, name: 'settings' }]))
  assert.ok(isDependent(given, [{ ...ref, name: 'other' }, byLabel('front')]))
  assert.ok(!isDependent(given, [byLabel('back')]))
  assert.ok(!isDependent(given, [{ ...ref, namespace: 'other', name: 'settings' }]))
})
