import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { carriedManifest, type Work } from '@skerry/karmada-kinds'
import { AppliedVersions } from './applied-versions.ts'
import { planManifest } from './plan-manifest.ts'

const carrier = { namespace: 'karmada-es-shop', name: 'settings', permanentId: 'id' }

function manifest(data: object, metadata: Partial<AnyObject['metadata']> = {}): AnyObject {
  const named = { namespace: 'default', name: 'settings', ...metadata }
  return carriedManifest({ apiVersion: 'v1', kind: 'ConfigMap', metadata: named, data }, carrier)
}

/** The same, as a cluster has it. */
function served(object: AnyObject, metadata: Partial<AnyObject['metadata']> = {}): AnyObject {
  const { labels, annotations, ...rest } = metadata
  return {
    ...object,
    metadata: {
      ...object.metadata,
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { ...object.metadata.labels, ...labels },
      annotations: { ...object.metadata.annotations, ...annotations },
      ...rest,
    },
  }
}

function plan(desired: AnyObject, observed: AnyObject | undefined) {
  return planManifest({ cluster: 'shop', desired, observed }, AbortSignal.timeout(30_000))
}

const green = manifest({ colour: 'green' })

test('a missing object is created, and one that is as wanted is not touched', async () => {
  assert.deepEqual(await plan(green, undefined), { act: 'create', object: green })
  assert.deepEqual(await plan(green, served(green)), { act: 'keep' })
  const cared = {
    labels: { added: 'here' },
    annotations: { seen: 'today' },
    finalizers: ['x/y'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p' }],
  }
  assert.deepEqual(await plan(green, served(green, cared)), { act: 'keep' })
})

test("an update keeps the cluster's additions, and drops fields that came with an earlier manifest", async () => {
  const before = manifest({ colour: 'red' }, { labels: { old: '1' }, annotations: { note: '1' } })
  const observed = served(before, {
    labels: { added: 'here', 'karmada.io/managed': 'true' },
    annotations: { seen: 'today' },
    finalizers: ['x/y'],
  })
  const planned = await plan(green, observed)
  assert.equal(planned.act, 'update')
  const { metadata } = planned.object
  assert.deepEqual(metadata, {
    namespace: 'default',
    name: 'settings',
    labels: { ...green.metadata.labels, added: 'here' },
    annotations: { ...green.metadata.annotations, seen: 'today' },
    resourceVersion: '7',
    finalizers: ['x/y'],
  })
  assert.deepEqual(planned.object['data'], { colour: 'green' })
})

test("an object that is not Karmada's is refused, unless the manifest takes it over", async () => {
  const own = { ...served(green), metadata: { name: 'settings', resourceVersion: '7' } }
  const refused = await plan(green, own)
  assert.equal(refused.act, 'refuse')
  assert.match(refused.why, /^resource\(kind=ConfigMap, default\/settings\) already exists/)
  const way = async (value: string) => {
    const annotations = { 'work.karmada.io/conflict-resolution': value }
    return (await plan(manifest({}, { annotations }), own)).act
  }
  assert.deepEqual([await way('abort'), await way('overwrite')], ['refuse', 'update'])
})

function workAt(generation: number): Work {
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { name: 'settings', uid: 'w', generation },
    spec: {},
  }
}

test('an applied object is checked again when its Work, its content or its labels change', () => {
  const versions = new AppliedVersions()
  const isCurrent = (observed: AnyObject, generation = 1) =>
    versions.isCurrent(workAt(generation), green, observed)
  const first = served(green, { generation: 3 })
  assert.equal(isCurrent(first), false, 'never applied')
  versions.onApplied(workAt(1), green, first)
  const seen = {
    same: isCurrent(first),
    onlyStatus: isCurrent({ ...first, metadata: { ...first.metadata, resourceVersion: '9' } }),
    newWork: isCurrent(first, 2),
    newContent: isCurrent(served(green, { generation: 4 })),
    newLabel: isCurrent(served(green, { generation: 3, labels: { 'karmada.io/managed': 'no' } })),
    recreated: isCurrent(served(green, { generation: 3, uid: 'other' })),
  }
  assert.deepEqual(seen, {
    same: true,
    onlyStatus: true,
    newWork: false,
    newContent: false,
    newLabel: false,
    recreated: false,
  })
  versions.forget(green)
  assert.equal(isCurrent(first), false)
})
