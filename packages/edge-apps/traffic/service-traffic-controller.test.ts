import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '@skerry/api'
import { resources } from '@skerry/client'
import { startEdgeWorld, type EdgeWorld } from '../testing/edge-world.ts'

const zone = 'topology.kubernetes.io/zone'
const namespace = 'default'
const shop = { name: 'shop', namespace }

function shopService(spec: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...shop, annotations: { topologyKeys: '["hall"]' } },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }], ...spec },
  }
}

/** Resolves when the service is asked for this distribution, and is marked so. */
function distribution(
  world: EdgeWorld,
  wanted: string | undefined,
  mark: string | undefined,
): Promise<Service> {
  return world.eventually(resources.services, (all) =>
    all.find(
      ({ metadata, spec }) =>
        metadata.name === 'shop' &&
        spec?.trafficDistribution === wanted &&
        metadata.annotations?.['edge.skerry.io/traffic'] === mark,
    ),
  )
}

test('an annotated service prefers its zone while places are zones, and an event says so if they are not', async () => {
  await using world = await startEdgeWorld([])
  await world.node('n1', { hall: 'a', [zone]: 'z1' })
  await world.create(resources.services, shopService())
  await distribution(world, 'PreferSameZone', 'PreferSameZone')
  await world.node('n2', { hall: 'b' })
  await distribution(world, undefined, 'NotKept')
  const event = await world.eventually(resources.events, (all) =>
    all.find(({ reason }) => reason === 'TrafficNotKept'),
  )
  assert.match(event.message ?? '', /node n2 has hall="b"/)
  await world.patch(resources.nodes, { name: 'n2' }, { metadata: { labels: { [zone]: 'z2' } } })
  await distribution(world, 'PreferSameZone', 'PreferSameZone')
  await world.patch(resources.services, shop, { metadata: { annotations: { topologyKeys: null } } })
  await distribution(world, undefined, undefined)
})

test('a distribution that somebody else has chosen stays', async () => {
  await using world = await startEdgeWorld([])
  await world.node('n1', { hall: 'a', [zone]: 'z1' })
  await world.create(resources.services, shopService({ trafficDistribution: 'PreferSameNode' }))
  // The second service is looked at after the first one.
  await world.create(resources.services, {
    ...shopService(),
    metadata: { name: 'later', namespace, annotations: { topologyKeys: '["hall"]' } },
  })
  await world.eventually(resources.services, (all) =>
    all.find(({ metadata, spec }) => metadata.name === 'later' && spec?.trafficDistribution),
  )
  await distribution(world, 'PreferSameNode', undefined)
})
