import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelSelectorOf, type KubeObject, type OwnerReference } from '@skerry/api'
import { planClaim } from './owner-references.ts'

const selector = labelSelectorOf({ matchLabels: { app: 'web' } })
const owner: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', uid: 'owner' },
}

interface Case {
  uid?: string
  app: string
  isGoing?: boolean
}

function object({ uid, app, isGoing }: Case): KubeObject {
  const reference = (of: string): OwnerReference => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: of,
    uid: of,
    controller: true,
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${uid}-${app}`,
      labels: { app },
      ...(uid ? { ownerReferences: [reference(uid)] } : {}),
      ...(isGoing ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
  }
}

const cases: [string, Case, 'claimed' | 'adopt' | 'release' | undefined][] = [
  ['mine and matching', { uid: 'owner', app: 'web' }, 'claimed'],
  ['mine and not matching any more', { uid: 'owner', app: 'db' }, 'release'],
  ["another's", { uid: 'other', app: 'web' }, undefined],
  ["nobody's and matching", { app: 'web' }, 'adopt'],
  ["nobody's, matching and going", { app: 'web', isGoing: true }, undefined],
  ["nobody's and not matching", { app: 'db' }, undefined],
]

for (const [name, given, expected] of cases) {
  test(`an owner treats an object that is ${name} as ${expected ?? 'none of its business'}`, () => {
    const plan = planClaim(owner, selector, [object(given)])
    for (const part of ['claimed', 'adopt', 'release'] as const) {
      assert.equal(plan[part].length, part === expected ? 1 : 0, part)
    }
  })
}

test('an owner that is being deleted neither adopts nor releases', () => {
  const going = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: 'now' } }
  const objects = [object({ app: 'web' }), object({ uid: 'owner', app: 'db' })]
  assert.deepEqual(planClaim(going, selector, objects), { claimed: [], adopt: [], release: [] })
})
