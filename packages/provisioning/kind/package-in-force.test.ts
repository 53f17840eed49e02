import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, PackageSource } from './edge-cluster.ts'
import { packageInForce, statusAfterChange } from './package-in-force.ts'

const own: PackageSource = { digest: 'sha256:0a', publicKey: 'key' }
const taken: PackageSource = { digest: 'sha256:0b', publicKey: 'key' }

function edge(spec: PackageSource | undefined, status?: PackageSource): EdgeCluster {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7' },
    spec: { machines: [], ...(spec === undefined ? {} : { package: spec }) },
    ...(status === undefined ? {} : { status: { phase: 'Ready', package: status } }),
  }
}

test('new machines get the package of the object, or the one to which a job has upgraded the master', () => {
  assert.equal(packageInForce(edge(undefined)), undefined)
  assert.equal(packageInForce(edge(own)), own)
  assert.equal(packageInForce(edge(own, taken)), taken)
  assert.equal(packageInForce(edge(undefined, taken)), taken)
})

test('another package in the object takes the place of the one that a job has brought', () => {
  const before = edge(own, taken)
  assert.deepEqual(statusAfterChange(edge(own), before), before.status)
  assert.deepEqual(statusAfterChange(edge(taken), before), { phase: 'Ready' })
  assert.deepEqual(statusAfterChange(edge(undefined), before), { phase: 'Ready' })
})
