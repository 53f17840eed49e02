import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim } from '@skerry/api'
import { findVolume, refusalOf } from './match-volume.ts'

function volume(name: string, spec: PersistentVolume['spec']): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...spec },
  }
}

function claim(spec: PersistentVolumeClaim['spec'] = {}): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'shop', uid: 'u1' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  }
}

const refusals: {
  name: string
  volume: PersistentVolume
  claim: PersistentVolumeClaim
  expected: string | undefined
}[] = [
  { name: 'it fits', volume: volume('v', {}), claim: claim(), expected: undefined },
  {
    name: 'too small',
    volume: volume('v', { capacity: { storage: '500Mi' } }),
    claim: claim(),
    expected: 'requested PV is too small',
  },
  {
    name: 'another class',
    volume: volume('v', { storageClassName: 'fast' }),
    claim: claim(),
    expected: 'storageClassName does not match',
  },
  {
    name: 'another mode',
    volume: volume('v', {}),
    claim: claim({ accessModes: ['ReadWriteMany'] }),
    expected: 'incompatible accessMode',
  },
  {
    name: 'a block device',
    volume: volume('v', { volumeMode: 'Block' }),
    claim: claim(),
    expected: 'incompatible volumeMode',
  },
  {
    name: 'a selector',
    volume: volume('v', {}),
    claim: claim({ selector: { matchLabels: { a: 'b' } } }),
    expected: 'selector does not match',
  },
]

for (const row of refusals) {
  test(row.name, () => assert.equal(refusalOf(row.volume, row.claim), row.expected))
}

test('the smallest free volume that fits is chosen', () => {
  const volumes = [
    volume('big', { capacity: { storage: '10Gi' } }),
    volume('fitting', { capacity: { storage: '2Gi' } }),
    volume('taken', { claimRef: { namespace: 'shop', name: 'other', uid: 'u2' } }),
  ]
  assert.equal(findVolume(claim(), volumes, () => true)?.metadata.name, 'fitting')
})

test('a volume reserved by name wins; one bound to a deleted claim of the same name does not', () => {
  const reserved = volume('mine', {
    capacity: { storage: '10Gi' },
    claimRef: { namespace: 'shop', name: 'data' },
  })
  const stale = volume('stale', { claimRef: { namespace: 'shop', name: 'data', uid: 'old' } })
  assert.equal(
    findVolume(claim(), [volume('free', {}), stale, reserved], () => true)?.metadata.name,
    'mine',
  )
})
