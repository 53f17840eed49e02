import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Step } from '../contract/step.ts'
import type { EdgeCluster, EdgeClusterStatus } from '../kind/edge-cluster.ts'
import { knownSteps, statusBaseOf, stepsOfMode } from './steps-of-mode.ts'

const act = async (): Promise<string> => ''
const steps: readonly Step[] = [
  { name: 'Claim', does: 'take the name', needs: [], place: 'hub', act },
  { name: 'Look', does: 'look', needs: [], place: 'machines', onlyReads: true, act },
  { name: 'Copy', does: 'copy', needs: [], place: 'machines', applies: () => false, act },
  { name: 'Start', does: 'start it', needs: [], place: 'master', act },
]

const machines = [{ addresses: ['a'], credentials: { name: 'ssh' }, role: 'Master' as const }]

function edgeOf(
  mode: 'Make' | 'Check' | undefined,
  status?: EdgeClusterStatus,
  more = {},
): EdgeCluster {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7', ...more },
    spec: { machines, ...(mode === undefined ? {} : { mode }) },
    ...(status === undefined ? {} : { status }),
  }
}

const names = (edge: EdgeCluster): string[] => stepsOfMode(steps, edge).map(({ name }) => name)

test('a check does the steps that only read, and lists all that would be done', () => {
  assert.deepEqual(names(edgeOf('Check')), ['Look'])
  assert.deepEqual(names(edgeOf('Make')).length, 4)
  assert.deepEqual(names(edgeOf(undefined)).length, 4)
  const base = statusBaseOf(edgeOf('Check'), steps, [])
  assert.deepEqual(base.plan, [
    { name: 'Claim', does: 'take the name', where: 'Hub' },
    { name: 'Look', does: 'look', where: 'Machines' },
    { name: 'Start', does: 'start it', where: 'Master' },
  ])
  assert.equal(statusBaseOf(edgeOf('Make'), steps, []).plan, undefined)
})

test('a deletion takes away whatever there is, in both modes', () => {
  const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  assert.equal(names(edgeOf('Check', undefined, leaving)).length, 4)
})

test('a cluster that was checked is looked at again when it is made, and only then', () => {
  const known = [{ name: 'Look', machine: 'a', state: 'Failed' as const }]
  assert.deepEqual(knownSteps(edgeOf('Make', { mode: 'Check', steps: known })), [])
  assert.deepEqual(knownSteps(edgeOf('Check', { mode: 'Check', steps: known })), known)
  assert.deepEqual(knownSteps(edgeOf('Make', { mode: 'Make', steps: known })), known)
  assert.deepEqual(knownSteps(edgeOf('Make', { steps: known })), known)
})
