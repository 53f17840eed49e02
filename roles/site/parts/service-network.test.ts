import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { serviceNetwork } from './service-network.ts'

const network = { name: 'shop', serviceCidr: '10.43.0.0/16', clusterDomain: 'cluster.local' }

test('a part for each node that is larger than the range of all pods is refused', () => {
  const divide = (clusterCidr: string, nodeCidrMaskSize: number): unknown =>
    serviceNetwork({ ...network, clusterCidr, nodeCidrMaskSize })
  assert.ok(divide('10.42.0.0/24', 24))
  assert.throws(
    () => divide('10.42.0.0/20', 16),
    (error) => error instanceof ExpectedError && /--node-cidr-mask-size 16/.test(error.message),
  )
})
