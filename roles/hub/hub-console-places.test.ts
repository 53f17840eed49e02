import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import type { explainApplication } from '@skerry/edge-apps'
import type { serviceReach } from '@skerry/service-proxy'
import {
  childRows,
  servicesOf,
  type PlacedExplanation,
  type ServiceReach,
} from '../../console/data/places/placed-application.ts'
import { openTestBrowser } from '../../testing/scenes/test-browser.ts'
import {
  registerCluster,
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const olga = { commonName: 'olga', organizations: ['system:masters'] }
const base = '/hub/v1/clusters/shop-7'
const servicePath = `${base}/service-in-places?namespace=default&name=web`

let fleet: TestHub
let stack: AsyncDisposableStack
let site: ClusterClient

before(async () => {
  stack = new AsyncDisposableStack()
  fleet = stack.use(await startTestHub())
  const edge = stack.use(await startTestEdge())
  site = createCluster(edge.transport, { clock: systemClock, log: silentLogger, userAgent: 'test' })
  await registerCluster(fleet, 'shop-7')
  const agent = stack.use(await startTestAgent(fleet, { name: 'shop-7', api: edge.api }))
  await agent.connected()
  await makeService()
})
after(() => stack[Symbol.asyncDispose]())

async function makeService(): Promise<void> {
  const nodes = { a1: 'a', b1: 'b' }
  for (const [name, hall] of Object.entries(nodes)) {
    const metadata = { name, labels: { hall } }
    await site
      .resource(resources.nodes)
      .create({ apiVersion: 'v1', kind: 'Node', metadata }, soon())
  }
  const metadata = {
    namespace: 'default',
    name: 'web',
    annotations: { topologyKeys: '["hall"]' },
  }
  const spec = { clusterIP: 'None', ports: [{ port: 80 }] }
  await site
    .resource(resources.services)
    .create({ apiVersion: 'v1', kind: 'Service', metadata, spec }, soon())
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'default',
      name: 'web-1',
      labels: { 'kubernetes.io/service-name': 'web' },
    },
    addressType: 'IPv4',
    ports: [{ port: 80 }],
    endpoints: [{ addresses: ['10.42.0.7'], nodeName: 'a1' }],
  }
  await site.resource(resources.endpointSlices).create(slice, soon())
}

test('each place gets the way of a service, read with the rights of its asker', async () => {
  const browser = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const answer = await browser.ask({ path: servicePath })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.body['places'], [
    { labels: { hall: 'a' }, nodes: ['a1'], endpoints: [0] },
    { labels: { hall: 'b' }, nodes: ['b1'], endpoints: [] },
  ])
  const rita = openTestBrowser(fleet, await fleet.credentialsOf({ commonName: 'rita' }))
  const [there, missing] = [
    await rita.ask({ path: servicePath }),
    await rita.ask({ path: servicePath.replace('shop-7', 'shop-8') }),
  ]
  assert.deepEqual([there.status, missing.status], [403, 403])
  const text = String(there.body.message).replaceAll('shop-7', 'shop-8')
  assert.equal(text, String(missing.body.message))
  assert.equal((await openTestBrowser(fleet).ask({ path: servicePath })).status, 403)
})

const refusals: readonly [string, string, number][] = [
  ['GET', `${base}/service-in-places?name=web`, 400],
  ['GET', `${base}/service-in-places?namespace=default&name=nosuch`, 404],
  ['GET', `${base}/application-in-places?kind=Pod&namespace=default&name=web`, 400],
  ['GET', `${base}/application-in-places?kind=toString&namespace=default&name=web`, 400],
  // The cluster does not serve the kind.
  ['GET', `${base}/application-in-places?kind=DeploymentGrid&namespace=default&name=web`, 404],
  ['POST', servicePath, 405],
]
type Answer<Ask extends (...args: never[]) => unknown> = NonNullable<Awaited<ReturnType<Ask>>>

/** The pages declare the fields that they show; the compiler compares these with the answer. */
const asShown = (answer: Answer<typeof explainApplication>): PlacedExplanation => answer
const reachAsShown = (answer: Answer<typeof serviceReach>): ServiceReach => answer

test('the pages read the answers of the hub', async () => {
  const browser = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const { text } = await browser.ask({ path: servicePath })
  // The route sends what serviceReach() returned.
  const reach = reachAsShown(JSON.parse(text) as Answer<typeof serviceReach>)
  assert.deepEqual(
    reach.endpoints.map(({ address, node, isReady }) => [address, node, isReady]),
    [['10.42.0.7', 'a1', true]],
  )
  const application = { kind: 'DeploymentGrid', namespace: 'default', name: 'web' }
  const podLabels = { app: 'web' }
  const child = { group: 'a', kind: 'Deployment', name: 'web-a', podLabels, differences: [] }
  const shown = asShown({ application, children: [child], unread: [] })
  const [row] = childRows({ metadata: { name: 'web' } }, shown)
  assert.deepEqual([row?.group, row?.name], ['a', 'web-a'])
  const service = { metadata: { name: 'web' }, spec: { selector: podLabels } }
  assert.deepEqual(servicesOf(shown, [service]), ['web'])
})

test('questions that have no answer are refused, and say why', async () => {
  const browser = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  for (const [method, path, status] of refusals) {
    const answer = await browser.ask({ method, path, ...(method === 'POST' ? { json: {} } : {}) })
    assert.equal(answer.status, status, `${path}: ${answer.text}`)
  }
})
