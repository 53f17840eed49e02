import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { APIService } from '@skerry/api'
import { planRegistration, wantedApiServices } from './auto-register.ts'

function stored(name: string, automanaged?: string, more: object = {}): APIService {
  const [version = '', ...group] = name.split('.')
  const label = { 'kube-aggregator.kubernetes.io/automanaged': automanaged ?? '' }
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name, uid: `uid-${name}`, labels: automanaged === undefined ? {} : label },
    spec: {
      group: group.join('.'),
      version,
      groupPriorityMinimum: 1000,
      versionPriority: 100,
      ...more,
    },
  }
}

const wanted = wantedApiServices([], [{ group: 'example.com', version: 'v1' }])
const remote = { service: { namespace: 'shop', name: 'x' } }

const cases: [name: string, stored: APIService[], isStart: boolean, steps: string[]][] = [
  ['missing', [], false, ['create v1.example.com']],
  ['as wanted', [stored('v1.example.com', 'true')], false, []],
  ['changed', [stored('v1.example.com', 'true', remote)], false, ['update v1.example.com']],
  ['somebody took the label off', [stored('v1.example.com', undefined, remote)], false, []],
  [
    'a CRD that is gone',
    [stored('v1.example.com', 'true'), stored('v1.gone.com', 'true')],
    false,
    ['delete v1.gone.com'],
  ],
  [
    'a built-in group that is gone, at the start',
    [stored('v1.example.com', 'true'), stored('v1.old.k8s.io', 'onstart')],
    true,
    ['delete v1.old.k8s.io'],
  ],
  [
    'the same later',
    [stored('v1.example.com', 'true'), stored('v1.old.k8s.io', 'onstart')],
    false,
    [],
  ],
]

test('APIServices follow the groups that the server serves, and those of other owners are left alone', () => {
  for (const [name, before, isStart, expected] of cases) {
    const steps = planRegistration(wanted, before, isStart).map((step) =>
      step.type === 'create' ? `create ${step.object.metadata.name}` : `${step.type} ${step.name}`,
    )
    assert.deepEqual(steps, expected, name)
  }
})
