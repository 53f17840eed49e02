import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KubeObject, Pod } from '@skerry/api'
import { silentLogger } from '@skerry/base'
import { readHeldPods } from './held-pods.ts'
import { ObjectDisk } from './object-disk.ts'
import { storeDirectory } from './stored-node.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'web', uid: 'u1' },
  spec: {
    imagePullSecrets: [{ name: 'registry' }],
    containers: [
      {
        name: 'main',
        envFrom: [
          { secretRef: { name: 'gone' } },
          { secretRef: { name: 'spare', optional: true } },
        ],
      },
    ],
    volumes: [
      { name: 'settings', configMap: { name: 'settings' } },
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    ],
  },
}

test('a pod lacks the objects that are not on the disk, except for optional ones, and names the first end of its tokens', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-held-'))
  try {
    const disk = new ObjectDisk(storeDirectory(directory), silentLogger)
    const object = (kind: string): KubeObject => ({ apiVersion: 'v1', kind, metadata: {} })
    const token = (key: string, expiresAtMs: number): void =>
      disk.put({ resource: 'tokens', key }, {
        ...object('Token'),
        token: { token: 't', issuedAtMs: 0, expiresAtMs },
      } as KubeObject) // the disk keeps any object
    disk.put({ resource: 'pods', key: 'u1' }, pod)
    disk.put({ resource: 'configMaps', key: 'shop/settings' }, object('ConfigMap'))
    token('u1/vault/600', 7_000)
    token('u1//3607', 5_000)
    token('u2//3607', 1_000)
    await disk.flush()
    const [held, ...others] = await readHeldPods(directory, silentLogger)
    assert.deepEqual(others, [])
    assert.equal(held?.pod.metadata.name, 'web')
    assert.deepEqual(held?.missing, ['secrets/shop/gone', 'persistentVolumeClaims/shop/data'])
    assert.equal(held?.tokenEndsMs, 5_000)
  } finally {
    await rm(directory, { recursive: true })
  }
})
