import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from './run-service-network.ts'
import { planAddresses } from './services/address-plan.ts'
import { planServicePorts } from './services/service-ports.ts'
import { service } from './testing/service-objects.ts'

test('no service takes an address that the operator of a node keeps for the machines, as the hub is', () => {
  const hub = '198.51.100.7'
  const evil = service('evil', {
    clusterIP: '10.43.0.77',
    externalIPs: [hub, '203.0.113.80'],
    ports: [{ name: 'https', port: 7443 }],
  })
  const planned = (reservedAddresses: readonly string[]) => {
    const network = networkOf({
      nodeAddress: '192.0.2.1',
      clusterCidr: '10.42.0.0/16',
      serviceCidr: '10.43.0.0/16',
      dnsAddress: '10.43.0.10',
      clusterDomain: 'cluster.local',
      resolvers: ['192.0.2.53'],
      reservedAddresses,
    })
    const { ports, refused } = planAddresses(
      planServicePorts([evil], [], { nodeName: 'a' }),
      network,
    )
    return [ports.flatMap(({ externalIps }) => externalIps), refused.map((each) => each.address)]
  }
  assert.deepEqual(planned([]), [[hub, '203.0.113.80'], []])
  assert.deepEqual(planned([hub]), [['203.0.113.80'], [hub]])
})
