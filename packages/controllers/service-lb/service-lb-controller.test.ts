import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Service } from '@skerry/api'
import { resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { startControllerWorld } from '../testing/controller-world.ts'
import { balancer } from '../testing/load-balancer.ts'
import { serviceLbController } from './service-lb-controller.ts'

const node = (name: string, address: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: {
    addresses: [{ type: 'InternalIP', address }],
    conditions: [{ type: 'Ready', status: 'True' }],
  },
})

test('a load balancer has addresses of nodes, says which ports are in use, and leaves those of another class alone', async () => {
  await using server = await startTestApiServer()
  await using world = startControllerWorld({
    transport: server.transport,
    controllers: [],
    configured: [serviceLbController()],
  })
  const { signal } = world
  const nodes = world.client(resources.nodes)
  const services = world.client(resources.services)
  for (const each of [node('a', '192.168.7.11'), node('b', '192.168.7.12')])
    await nodes.create(each, signal)
  await services.create(balancer('other', { loadBalancerClass: 'example.com/lb' }), signal)
  const addresses = (name: string, expected: string): Promise<Service> =>
    world.eventually(resources.services, (all) => {
      const service = all.find(({ metadata }) => metadata.name === name)
      const ingress = service?.status?.loadBalancer?.ingress ?? []
      return ingress.map(({ ip }) => ip).join() === expected ? service : undefined
    })
  await services.create(balancer('web'), signal)
  const web = await addresses('web', '192.168.7.11,192.168.7.12')
  assert.deepEqual(web.status?.loadBalancer?.ingress?.[0], {
    ip: '192.168.7.11',
    ipMode: 'VIP',
    ports: [{ port: 80, protocol: 'TCP' }],
  })
  assert.equal(web.spec?.ports?.[0]?.nodePort, undefined)

  const annotate = (name: string, used: string | null): Promise<Node> => {
    const patch = { metadata: { annotations: { 'skerry.io/used-ports': used } } }
    return nodes.patch({ name, type: 'merge', patch }, signal)
  }
  await annotate('a', '80/tcp')
  const [condition] = (await addresses('web', '192.168.7.12')).status?.conditions ?? []
  assert.equal(condition?.type, 'LoadBalancerPortsError')
  assert.equal(condition.message, 'node a: port 80/tcp: a program of the node uses it')
  await world.eventually(resources.events, (events) =>
    events.find(
      ({ reason, involvedObject }) => reason === 'PortInUse' && involvedObject?.name === 'web',
    ),
  )
  await annotate('a', null)
  const free = await addresses('web', '192.168.7.11,192.168.7.12')
  assert.deepEqual(free.status?.conditions ?? [], [])
  await nodes.delete({ name: 'b' }, signal)
  await addresses('web', '192.168.7.11')
  await addresses('other', '')

  await annotate('a', '80/tcp')
  const refused = await addresses('web', '')
  assert.equal(refused.status?.conditions?.length, 1)
  const patch = { spec: { type: 'ClusterIP' } }
  await services.patch({ namespace: 'default', name: 'web', type: 'merge', patch }, signal)
  await world.eventually(resources.services, (all) =>
    all.find(({ metadata, spec, status }) => {
      const isBare = (status?.conditions ?? []).length === 0
      return metadata.name === 'web' && spec?.type === 'ClusterIP' && isBare
    }),
  )
})
