import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openAdminCluster, openChosenHub } from './admin-cluster.ts'

test('a command without a control plane says where it looked', async () => {
  const gone = join(import.meta.dirname, 'gone', 'admin.kubeconfig')
  await assert.rejects(openAdminCluster(gone), {
    name: 'ExpectedError',
    message: `Cannot reach the control plane: there is no ${gone}; name the directory of a running one with --data-dir`,
  })
  await assert.rejects(openChosenHub({ dataDir: '', kubeconfig: gone }), {
    name: 'ExpectedError',
    message: `Cannot reach the control plane: there is no ${gone}; pass another --kubeconfig, or make one with "skerry login" or "skerry kubeconfig"`,
  })
})
