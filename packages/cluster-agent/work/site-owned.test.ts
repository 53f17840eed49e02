import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { groupLabel } from '@skerry/fleet-kinds'
import { withSiteOwned } from './site-owned.ts'

const siteOwnedKey = 'hub.skerry.io/site-owned'

interface FieldOwner {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly fields: object
}

function web(
  spec: object,
  { listed = '', managers = [] as readonly FieldOwner[] } = {},
): AnyObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      annotations: { [siteOwnedKey]: listed },
      managedFields: managers.map(({ manager = 'site:till', operation = 'Apply', fields }) => ({
        manager,
        operation,
        apiVersion: 'apps/v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': fields },
      })),
    },
    spec,
  }
}

/** Returns the resulting spec when the hub wants one thing and the site has another. */
function kept(listed: string, [hub, site]: readonly [object, object], ...managers: FieldOwner[]) {
  return withSiteOwned(web(hub, { listed }), web(site, { managers }))['spec']
}

const replicas = { 'f:replicas': {} }
const counts = [{ replicas: 2 }, { replicas: 5 }] as const

test('a field stays the site’s when the hub has listed it and the site has applied it', () => {
  assert.deepEqual(kept('spec.replicas', counts, { fields: replicas }), { replicas: 5 })
  assert.deepEqual(kept('spec.paused, spec.replicas', counts, { fields: replicas }), {
    replicas: 5,
  })
  assert.deepEqual(kept('spec', counts, { fields: replicas }), { replicas: 5 })
})

test('a field that is not listed, or that nobody at the site has applied, is the hub’s', () => {
  const ours = { replicas: 2 }
  assert.deepEqual(kept('', counts, { fields: replicas }), ours)
  assert.deepEqual(kept('spec.paused', counts, { fields: replicas }), ours)
  assert.deepEqual(kept('spec.replicas', counts), ours)
  assert.deepEqual(kept('spec.replicas', counts, { manager: 'kubectl', fields: replicas }), ours)
  const updated = { operation: 'Update', fields: replicas } as const
  assert.deepEqual(kept('spec.replicas', counts, updated), ours)
})

test('in lists the site’s part of an element stays, and so does an element of its own', () => {
  const hub = {
    containers: [
      { name: 'web', image: 'web:v2', args: ['-v'], ports: [{ containerPort: 80 }] },
      { name: 'new', image: 'new:v1' },
    ],
  }
  const site = {
    containers: [
      {
        name: 'web',
        image: 'web:site',
        args: ['-q'],
        ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }],
      },
      { name: 'probe', image: 'probe:v1' },
    ],
  }
  const fields = {
    'f:containers': {
      'k:{"name":"web"}': {
        '.': {},
        'f:name': {},
        'f:image': {},
        'f:args': {},
        'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { 'f:name': {} } },
      },
      'k:{"name":"probe"}': { '.': {}, 'f:name': {}, 'f:image': {} },
    },
  }
  assert.deepEqual(kept('spec.containers.args', [hub, site], { fields }), {
    containers: [
      { name: 'web', image: 'web:v2', args: ['-q'], ports: [{ containerPort: 80 }] },
      { name: 'new', image: 'new:v1' },
    ],
  })
  assert.deepEqual(kept('spec.containers', [hub, site], { fields }), {
    containers: [
      {
        name: 'web',
        image: 'web:site',
        args: ['-q'],
        ports: [{ containerPort: 80, name: 'http' }],
      },
      { name: 'new', image: 'new:v1' },
      { name: 'probe', image: 'probe:v1' },
    ],
  })
})

test('fields that say whose an object is can never be the site’s', () => {
  const desired = web({}, { listed: 'metadata,kind,status' })
  const observed = web({}, { managers: [{ fields: {} }] })
  const fields = { 'f:metadata': { 'f:labels': { 'f:karmada.io/managed': {} } }, 'f:kind': {} }
  const managed = { ...observed.metadata, labels: { 'karmada.io/managed': 'false' } }
  const entries = (managed.managedFields ?? []).map((each) => ({ ...each, fieldsV1: fields }))
  const there = { ...observed, metadata: { ...managed, managedFields: entries } }
  assert.deepEqual(withSiteOwned(desired, there), desired)
})

test('fields that the site alone has stay, and are made where the hub has nothing', () => {
  const nodeSelector = { 'f:template': { 'f:spec': { 'f:nodeSelector': { 'f:disk': {} } } } }
  const site = { template: { spec: { nodeSelector: { disk: 'fast', other: 'x' } } } }
  const listed = 'spec.template.spec.nodeSelector'
  assert.deepEqual(kept(listed, [{ replicas: 1 }, site], { fields: nodeSelector }), {
    replicas: 1,
    template: { spec: { nodeSelector: { disk: 'fast' } } },
  })
  assert.deepEqual(kept(listed, [{ replicas: 1 }, {}], { fields: nodeSelector }), { replicas: 1 })
})

test('fields that keep an object in its virtual cluster are never the site’s', () => {
  const selecting = (nodeSelector?: object) => ({
    template: { spec: nodeSelector ? { nodeSelector } : {} },
  })
  const hub = selecting({ [groupLabel]: 'east' })
  const whole = { 'f:template': { 'f:spec': { 'f:nodeSelector': {} } } }
  const parts = { 'f:template': { 'f:spec': { 'f:nodeSelector': { [`f:${groupLabel}`]: {} } } } }
  for (const fields of [whole, parts]) {
    for (const site of [selecting({ [groupLabel]: 'west' }), selecting({}), selecting()]) {
      assert.deepEqual(kept('spec', [hub, site], { fields }), hub)
    }
  }
  const both = selecting({ [groupLabel]: 'west', disk: 'fast' })
  const expected = selecting({ disk: 'fast', [groupLabel]: 'east' })
  assert.deepEqual(kept('spec.template', [hub, both], { fields: whole }), expected)
})
