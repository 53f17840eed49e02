import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import type { Lease, Node } from '@skerry/api'
import { resources } from '@skerry/client'
import { startTestApiServer, until } from '@skerry/testing'
import { startControllerWorld } from '../testing/controller-world.ts'
import { balancer } from '../testing/load-balancer.ts'
import { serviceRangeController } from './service-range-controller.ts'

const node = (name: string, at: number, network = '192.168.7.0/24'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, annotations: { 'skerry.io/network': network } },
  status: {
    addresses: [{ type: 'InternalIP', address: `192.168.7.${at}` }],
    conditions: [{ type: 'Ready', status: 'True' }],
  },
})

const heartbeat = (name: string, at: number): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'kube-node-lease', name },
  spec: { holderIdentity: name, renewTime: new Date(at).toISOString().replace('Z', '000Z') },
})

test('addresses of a range are spread over the nodes of its network, and leave a node that falls silent', async () => {
  await using server = await startTestApiServer({
    namespaces: ['default', 'kube-system', 'kube-node-lease'],
  })
  const clock = simulatedClock()
  await using world = startControllerWorld({
    transport: server.transport,
    controllers: [],
    configured: [serviceRangeController(['192.168.7.11', '192.168.7.240', '192.168.7.241'])],
    clock,
  })
  const { signal } = world
  const [nodes, services, leases] = [
    world.client(resources.nodes),
    world.client(resources.services),
    world.client(resources.leases),
  ]
  const all = [node('a', 11), node('b', 12), node('far', 13, '10.9.0.0/16')]
  for (const each of all) await nodes.create(each, signal)
  for (const name of ['a', 'b', 'far']) await leases.create(heartbeat(name, 0), signal)
  let beats = 0
  const beating = new Set(['a', 'b', 'far'])
  /** Lets the nodes that live renew their leases while time passes, until the condition is met. */
  const pass = (isMet: () => Promise<boolean>): Promise<true> =>
    until(async () => {
      beats += 1
      for (const name of beating) {
        const { spec = {} } = heartbeat(name, beats)
        const key = { namespace: 'kube-node-lease', name }
        await leases.patch({ ...key, type: 'merge', patch: { spec } }, signal)
      }
      await clock.advance(500)
      return isMet()
    })
  const holders = async (): Promise<Record<string, string>> => {
    const { items } = await leases.list(
      { namespace: 'kube-system', labelSelector: 'skerry.io/service-address' },
      signal,
    )
    const pairs = items.map(({ metadata, spec }) => [
      metadata.labels?.['skerry.io/service-address'] ?? '',
      spec?.holderIdentity ?? '',
    ])
    return Object.fromEntries(pairs)
  }
  const addressOf = async (name: string): Promise<string | undefined> => {
    const service = await services.get({ namespace: 'default', name }, signal)
    return service.status?.loadBalancer?.ingress?.[0]?.ip
  }
  await services.create(balancer('web'), signal)
  await pass(async () => (await addressOf('web')) !== undefined)
  await services.create(balancer('shop'), signal)
  await pass(async () => (await addressOf('shop')) !== undefined)
  // The first address of the range is that of a node.
  assert.equal(await addressOf('web'), '192.168.7.240')
  assert.equal(await addressOf('shop'), '192.168.7.241')
  const before = await holders()
  assert.deepEqual(before, { '192.168.7.240': 'a', '192.168.7.241': 'b' })

  beating.delete('a')
  await pass(async () => (await holders())['192.168.7.240'] === 'b')
  assert.equal(await addressOf('web'), '192.168.7.240', 'its address stays')
  beating.add('a')
  const more = balancer('more', { loadBalancerIP: '192.168.7.9' })
  await services.create(more, signal)
  await pass(async () => {
    const { items } = await world.client(resources.events).list({}, signal)
    return items.some(({ message = '' }) => message.includes('192.168.7.9 is not in the ranges'))
  })
  await services.delete({ namespace: 'default', name: 'shop' }, signal)
  await pass(async () => !('192.168.7.241' in (await holders())))
})
