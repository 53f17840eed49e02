import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import type { VirtualIsolation } from '@skerry/fleet-kinds'
import { viewOf } from './group-state.ts'

test('a VirtualCluster lists the sources that volumes sent to it may have', () => {
  const claimRef = { namespace: 'shop', name: 'data' }
  const sent = (source: object): AnyObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'data' },
    spec: { claimRef, ...source },
  })
  const isAllowed = (isolation: VirtualIsolation, source: object): boolean => {
    const { mapping } = viewOf('east', { spec: { isolation } })
    try {
      mapping.toMember(sent(source))
      return true
    } catch (error) {
      assert.match(String(error), /spec\.isolation\.volumeSources/)
      return false
    }
  }
  const nfs = { nfs: { server: 'files', path: '/east' } }
  const csi = { csi: { driver: 'disk', volumeHandle: 'a' } }
  const table: [isolation: VirtualIsolation, nfs: boolean, csi: boolean][] = [
    [{}, false, false],
    [{ volumeSources: [] }, false, false],
    [{ volumeSources: ['nfs'] }, true, false],
    [{ volumeSources: ['nfs', 'csi'] }, true, true],
    [{ allowsHostAccess: true }, true, true],
  ]
  for (const [isolation, ...expected] of table) {
    const told = [nfs, csi].map((source) => isAllowed(isolation, source))
    assert.deepEqual(told, expected, JSON.stringify(isolation))
  }
})
