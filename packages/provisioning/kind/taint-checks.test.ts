import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MachineTaint } from './edge-cluster.ts'
import { masterLabels, registrationTaints, taintCauses } from './taint-checks.ts'

const good: MachineTaint = { key: 'example.com/gpu', value: 'yes', effect: 'NoSchedule' }

test('taints of one key may differ in their effect', () => {
  assert.deepEqual(taintCauses('taints', [good, { ...good, effect: 'NoExecute' }]), [])
  assert.deepEqual(taintCauses('taints', [{ key: 'a', effect: 'PreferNoSchedule' }]), [])
})

const refused: readonly [what: string, taints: object[], field: string][] = [
  ['no key', [{ ...good, key: '' }], 'taints[0].key'],
  ['a key with a space', [good, { ...good, key: 'a b' }], 'taints[1].key'],
  ['a value with a space', [{ ...good, value: 'a b' }], 'taints[0].value'],
  ['no effect', [{ key: 'a' }], 'taints[0].effect'],
  ['another effect', [{ ...good, effect: 'Never' }], 'taints[0].effect'],
  ['one twice', [good, { ...good, value: 'no' }], 'taints[1]'],
]
for (const [what, taints, field] of refused) {
  test(`${what} is refused at ${field}`, () => {
    const fields = taintCauses('taints', taints).map((cause) => cause.field)
    assert.deepEqual([...new Set(fields)], [field])
  })
}

const controlPlane = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' as const }
const registered: readonly [
  what: string,
  spec: object,
  machine: Parameters<typeof registrationTaints>[1],
  taints: MachineTaint[],
][] = [
  ['a master takes workloads', {}, { role: 'Master' }, []],
  [
    'a master that takes none',
    { mastersTakeWorkloads: false },
    { role: 'Master', taints: [good] },
    [good, controlPlane],
  ],
  [
    'a master whose block has the taint itself',
    { mastersTakeWorkloads: false },
    { role: 'Master', taints: [controlPlane] },
    [controlPlane],
  ],
  [
    'a node beside such a master',
    { mastersTakeWorkloads: false },
    { role: 'Node', taints: [good] },
    [good],
  ],
]
for (const [what, spec, machine, taints] of registered) {
  test(`${what}: it registers with ${taints.map(({ key }) => key).join(' and ') || 'no taint'}`, () => {
    assert.deepEqual(registrationTaints(spec, machine), taints)
  })
}

test('a master has the role of a control plane, and one without workloads no traffic of balancers', () => {
  assert.deepEqual(Object.keys(masterLabels({})), ['node-role.kubernetes.io/control-plane'])
  assert.equal(Object.keys(masterLabels({ mastersTakeWorkloads: false })).length, 2)
})
