import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyLogin, type LoginForm } from '../../data/hub/login-secret.ts'
import {
  edgeClusterOf,
  emptyForm,
  emptyMachine,
  faultsByField,
  hasLogins,
  loginsOf,
} from './cluster-form.ts'

const login: LoginForm = { ...emptyLogin, secret: 'ssh' }

test('empty fields are left to the hub’s defaults', () => {
  const machine = { ...emptyMachine(1, 'Master'), addresses: '10.0.0.11', login }
  assert.deepEqual(edgeClusterOf({ ...emptyForm, name: 'shop-9', machines: [machine] }), {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'shop-9', namespace: 'default' },
    spec: {
      machines: [{ addresses: ['10.0.0.11'], role: 'Master', credentials: { name: 'ssh' } }],
    },
  })
})

test('filled fields become those of the object', () => {
  const node = {
    ...emptyMachine(2, 'Node'),
    addresses: '10.0.0.[12-14], 10.0.0.20',
    port: '2222',
    user: 'admin',
    login,
    hostKey: 'SHA256:abc',
    acceptsNewKeys: true,
    labels: 'tier=front,gpu',
  }
  const form = {
    ...emptyForm,
    name: 'a',
    displayName: 'Shop',
    podCIDR: '10.8.0.0/20',
    podsPerNode: 'many',
    apiNames: 'a.example b.example',
    mastersTakeWorkloads: false,
    machines: [node],
  }
  const { spec } = edgeClusterOf(form)
  assert.deepEqual(spec, {
    displayName: 'Shop',
    network: { podCIDR: '10.8.0.0/20', podsPerNode: 'many' },
    apiNames: ['a.example', 'b.example'],
    mastersTakeWorkloads: false,
    machines: [
      {
        addresses: ['10.0.0.[12-14]', '10.0.0.20'],
        port: 2222,
        user: 'admin',
        credentials: { name: 'ssh' },
        hostKeys: ['SHA256:abc'],
        acceptNewHostKeys: true,
        labels: { tier: 'front', gpu: '' },
      },
    ],
  })
})

test('several masters name their store, and the address before them', () => {
  const masters = { ...emptyMachine(1, 'Master'), addresses: '10.0.0.[11-12]', login }
  const witness = { ...emptyMachine(2, 'Witness'), addresses: '10.0.0.13', login }
  const several = { ...emptyForm, name: 'a', store: 'Etcd', machines: [masters, witness] } as const
  const specOf = (more: object): Readonly<Record<string, unknown>> => {
    // The object of a form always has a spec.
    return edgeClusterOf({ ...several, ...more })['spec'] as Readonly<Record<string, unknown>>
  }
  const spec = specOf({ reach: 'VirtualIP', reachAddress: ' 10.0.0.100', reachPort: '443' })
  assert.deepEqual(spec['store'], { type: 'Etcd' })
  assert.deepEqual(spec['highAvailability'], { type: 'VirtualIP', address: '10.0.0.100' })
  const roles = (spec['machines'] as { role: string }[]).map(({ role }) => role)
  assert.deepEqual(roles, ['Master', 'Witness'])
  assert.deepEqual(
    specOf({ reach: 'Balancer', reachAddress: 'api.example', reachPort: '443' })[
      'highAvailability'
    ],
    { type: 'Balancer', address: 'api.example', port: 443 },
  )
})

test('the hub’s faults stand at their fields, and the others over the form', () => {
  const fault = (field: string, message: string) => ({
    field,
    message,
    reason: 'FieldValueInvalid',
  })
  const found = faultsByField([
    fault('spec.machines[1].addresses[0]', 'a'),
    fault('spec.machines[1].addresses', 'b'),
    fault('spec.machines[0].credentials.name', 'c'),
    fault('spec.network.podCIDR', 'd'),
    fault('metadata.name', 'e'),
    fault('spec.highAvailability.address', 'g'),
    fault('spec.retry.attempts', 'f'),
  ])
  assert.deepEqual(
    [...found],
    [
      ['machines.1.addresses', 'a; b'],
      ['machines.0.login', 'c'],
      ['podCIDR', 'd'],
      ['name', 'e'],
      ['reachAddress', 'g'],
      ['', 'f'],
    ],
  )
})

test('a login that is typed in is in a Secret, and the object only names it', () => {
  const typed: LoginForm = { ...emptyLogin, kind: 'password', password: 'correct horse' }
  const first = { ...emptyMachine(1, 'Master'), addresses: '10.0.0.11', login: typed }
  const second = { ...emptyMachine(2, 'Node'), addresses: '10.0.0.12', sharesLogin: true }
  const third = { ...first, id: 3, role: 'Node' as const, addresses: '10.0.0.13' }
  const form = { ...emptyForm, name: 'a', machines: [first, second, third] }
  const object = JSON.stringify(edgeClusterOf(form, 'Check'))
  assert.doesNotMatch(object, /correct horse|Y29ycmVjdCBob3JzZQ/)
  assert.deepEqual(
    [...object.matchAll(/"credentials":\{"name":"([^"]+)"/g)].map(([, name]) => name),
    ['a-ssh', 'a-ssh', 'a-ssh-3'],
  )
  assert.match(object, /"mode":"Check"/)
  assert.deepEqual(
    loginsOf(form).map(({ name, edgeName, data }) => [name, edgeName, Object.keys(data)]),
    [
      ['a-ssh', 'a', ['password']],
      ['a-ssh-3', 'a', ['password']],
    ],
  )
  assert.deepEqual([hasLogins(form), hasLogins({ ...form, machines: [second] })], [true, false])
})
