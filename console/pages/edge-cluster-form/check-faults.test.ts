import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeStep } from '../../data/edge/edge-cluster.ts'
import { checkFaults } from './check-faults.ts'
import { emptyForm, emptyMachine } from './cluster-form.ts'

test('a wrong port, key and sudo are three messages at their fields', () => {
  const form = {
    ...emptyForm,
    machines: [
      { ...emptyMachine(1, 'Master'), addresses: '10.0.0.11' },
      { ...emptyMachine(2, 'Node'), addresses: '10.0.0.[12-13], 10.0.0.14' },
    ],
  }
  const step = (machine: string, fault: string, message: string): EdgeStep => ({
    name: 'Preflight',
    machine,
    state: 'Failed',
    fault,
    message,
  })
  const steps: EdgeStep[] = [
    step('10.0.0.11', 'unreachable', 'nothing answers'),
    step('10.0.0.12', 'login', 'the key is not taken'),
    step('10.0.0.13', 'root', 'no sudo on 13'),
    step('10.0.0.14', 'root', 'no sudo on 14'),
    { ...step('10.0.0.12', 'unreachable', 'was away'), state: 'Done' },
    step('10.0.0.99', 'login', 'of another form'),
    { name: 'Preflight', machine: '10.0.0.11', state: 'Failed', message: 'too little memory' },
  ]
  const edge = { metadata: { name: 'a', namespace: 'default' }, spec: {}, status: { steps } }
  assert.deepEqual(Object.fromEntries(checkFaults(form, edge)), {
    'machines.0.port': 'nothing answers',
    'machines.1.login': 'the key is not taken',
    'machines.1.sudo': 'no sudo on 13; no sudo on 14',
  })
})
