import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { startTestEtcd, whyNoEtcd, untilObject } from '@skerry/testing'
import { startTestEdge, startTestHub } from '../../testing/scenes/test-fleet.ts'
import {
  ask,
  clientOf,
  joinCluster,
  placeAtShop,
  readyOf,
  untilReachable,
} from '../../testing/scenes/test-push.ts'
import { etcdFlags } from '../../testing/scenes/test-replicas.ts'
import { replicaKeyPath } from '../control-plane/shared-keys.ts'

const skip = await whyNoEtcd()
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

test(
  'any replica reaches a cluster in push mode; one feeds it, and another when that one stops',
  { skip },
  async () => {
    await using etcd = await startTestEtcd()
    await using stack = new AsyncDisposableStack()
    const first = stack.use(await startTestHub({ etcd: etcdFlags(etcd), push: true }))
    const replicaKeyFile = replicaKeyPath(first.directory)
    await using second = await startTestHub({ etcd: etcdFlags(etcd), replicaKeyFile, push: true })
    await using member = await startTestEdge()
    const edge = clientOf(member, first)
    await joinCluster(first, member, edge)
    const shop = { name: 'shop' }
    await untilObject(
      first.admin,
      { resource: clusterResource, key: shop },
      (each) => readyOf(each)?.status === 'True',
      soon(),
    )
    await untilReachable(edge)
    await untilObject(
      second.admin,
      { resource: clusterResource, key: shop },
      (each) => readyOf(each)?.status === 'True',
      soon(),
    )
    for (const { admin } of [first, second]) {
      const { status, text } = await ask(admin, '/clusters/shop/api/v1/namespaces/default')
      assert.equal(status, 200, text)
    }
    await stack.disposeAsync()
    const made = { namespace: 'default', name: 'till' }
    await placeAtShop(second.admin, made)
    const configMap = await edge.resource(resources.configMaps).get(made, soon())
    assert.equal(configMap.data?.['till'], '7')
  },
)
