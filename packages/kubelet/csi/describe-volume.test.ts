import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@skerry/api'
import { capabilityOf, checkLifecycle, describeVolume, type CsiVolume } from './describe-volume.ts'
import { volumePlaces } from './volume-record.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec: { containers: [], securityContext: { fsGroup: 4321 } },
}

const claim: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'shop' },
}

function volumeOf(spec: Partial<PersistentVolume['spec']> = {}, isReadOnly = false): CsiVolume {
  const volume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv' },
    spec: { csi: { driver: 'a.example.com', volumeHandle: 'h' }, ...spec },
  }
  return describeVolume({ pod, volumeName: 'data', isReadOnly, volume, claim })
}

for (const { modes, plain, fine } of [
  {
    modes: ['ReadWriteOnce', 'ReadOnlyMany'],
    plain: 'SINGLE_NODE_WRITER',
    fine: 'SINGLE_NODE_MULTI_WRITER',
  },
  {
    modes: ['ReadWriteOncePod'],
    plain: 'SINGLE_NODE_WRITER',
    fine: 'SINGLE_NODE_SINGLE_WRITER',
  },
  { modes: ['ReadOnlyMany'], plain: 'MULTI_NODE_READER_ONLY', fine: 'MULTI_NODE_READER_ONLY' },
  { modes: ['ReadWriteMany'], plain: 'MULTI_NODE_MULTI_WRITER', fine: 'MULTI_NODE_MULTI_WRITER' },
]) {
  test(`a volume with access modes ${modes.join(', ')} is ${plain} to a driver, or ${fine}`, () => {
    const volume = volumeOf({ accessModes: modes })
    assert.equal(capabilityOf(volume, new Set()).accessMode.mode, plain)
    const finer = new Set(['SINGLE_NODE_MULTI_WRITER'] as const)
    assert.equal(capabilityOf(volume, finer).accessMode.mode, fine)
  })
}

test('a driver that can gives the volume to the group itself, and a block device has no file system', () => {
  const able = new Set(['VOLUME_MOUNT_GROUP'] as const)
  assert.equal(capabilityOf(volumeOf(), able).mount?.volumeMountGroup, '4321')
  assert.equal(capabilityOf(volumeOf(), new Set()).mount?.volumeMountGroup, '')
  assert.deepEqual(capabilityOf(volumeOf({ volumeMode: 'Block' }), able).block, {})
})

test('a volume is read-only if the pod or the volume says so', () => {
  const csi = { driver: 'a.example.com', volumeHandle: 'h', readOnly: true }
  assert.deepEqual(
    [volumeOf(), volumeOf({}, true), volumeOf({ csi })].map(({ isReadOnly }) => isReadOnly),
    [false, true, true],
  )
})

test('a volume in a pod is refused by a driver that has none, or no object', () => {
  const volume = describeVolume({
    pod,
    volumeName: 'scratch',
    isReadOnly: false,
    inline: { driver: 'a.example.com' },
  })
  assert.throws(() => checkLifecycle(volume, undefined), /no CSIDriver object/)
  assert.throws(() => checkLifecycle(volume, {}), /"Ephemeral" not supported/)
  assert.doesNotThrow(() => checkLifecycle(volume, { volumeLifecycleModes: ['Ephemeral'] }))
})

test('a name that would lead out of the directory of its volume is refused', () => {
  for (const specName of ['..', 'a/b', '']) {
    const volume = { ...volumeOf(), specName }
    assert.throws(() => volumePlaces('/data', volume), { name: 'VolumeError' })
  }
})
