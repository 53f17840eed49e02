import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Service } from '@skerry/api'
import { planTraffic } from './traffic-plan.ts'

const zone = 'topology.kubernetes.io/zone'

function service(annotations: Record<string, string>, spec: Service['spec'] = {}): Service {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', annotations }, spec }
}

function nodes(...all: readonly Record<string, string>[]): Node[] {
  return all.map((labels, at) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `n${at}`, labels },
  }))
}

const byHall = { topologyKeys: '["hall"]' }

test('a service stays on its node or in its zone by the field of Kubernetes that says the same', () => {
  const cases: [Record<string, string>, string | undefined][] = [
    [{}, undefined],
    [{ topologyKeys: '["*"]' }, undefined],
    [{ topologyKeys: `["${zone}"]` }, 'PreferSameZone'],
    [{ topologyKeys: '["kubernetes.io/hostname", "hall", "*"]' }, 'PreferSameNode'],
    [{ 'openyurt.io/topologyKeys': 'kubernetes.io/hostname' }, 'PreferSameNode'],
  ]
  for (const [annotations, expected] of cases) {
    const plan = planTraffic(service(annotations), nodes({ hall: 'a' }))
    assert.deepEqual(plan, expected && { distribution: expected }, JSON.stringify(annotations))
  }
})

test('a label is as good as a zone if the nodes of each value are those of one zone', () => {
  const same = nodes({ hall: 'a', [zone]: 'z1' }, { hall: 'b', [zone]: 'z2' }, { other: 'x' })
  assert.deepEqual(planTraffic(service(byHall), same), { distribution: 'PreferSameZone' })
  const groups = nodes({ 'apps.kubeedge.io/belonging-to': 'g1', [zone]: 'g1' })
  const annotations = { 'apps.kubeedge.io/service-topology': 'range-nodegroup' }
  assert.deepEqual(planTraffic(service(annotations), groups), { distribution: 'PreferSameZone' })
})

test('a label that divides nodes in another way than zones is a fault that names a node', () => {
  const divided: readonly Node[][] = [
    nodes({ hall: 'a' }),
    nodes({ [zone]: 'z1' }),
    nodes({ hall: 'a', [zone]: 'z1' }, { hall: 'a', [zone]: 'z2' }),
    nodes({ hall: 'a', [zone]: 'z1' }, { hall: 'b', [zone]: 'z1' }),
  ]
  for (const all of divided) {
    const plan = planTraffic(service(byHall), all)
    const fault = plan && 'fault' in plan ? plan.fault : assert.fail()
    const last = all.at(-1)?.metadata.name
    assert.match(fault, new RegExp(`node ${last} has hall=".*" but ${zone}=".*"`))
  }
})

test('a headless service and a value that the annotation cannot have are faults', () => {
  const headless = planTraffic(service(byHall, { clusterIP: 'None' }), [])
  assert.deepEqual(headless, {
    fault: 'the names of a headless service lead to the pods of all places',
  })
  assert.deepEqual(planTraffic(service({ topologyKeys: 'hall' }), []), {
    fault: 'annotation topologyKeys has no such value: hall',
  })
})
