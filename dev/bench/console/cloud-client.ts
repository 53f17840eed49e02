/**
 * The clients of `bench console` that are not a browser, as a process on the host of a hub or a site. Lines on its input
 * are orders in JSON, each answered by a line.
 */
import { openRawClient, type RawClient } from '../../processes/raw-client.ts'
import { atRate, createMany } from '../measure/api-load.ts'
import { obeyOrders } from '../measure/obey-orders.ts'
import { openTabs, tabBytes } from './open-tabs.ts'
import type { Order } from './orders.ts'
import { clusterOf, namesOf, statusOf } from './simulated-fleet.ts'

const clustersPath = '/apis/cluster.karmada.io/v1alpha1/clusters'
const writers = 16
const clients = new Map<string, Promise<RawClient>>()

await obeyOrders(obey)
process.exit(0)

async function obey(order: Order): Promise<number> {
  switch (order.do) {
    case 'clusters':
      return makeClusters(await clientOf(order.at), order.count)
    case 'change':
      return changeClusters(await clientOf(order.at), order)
    case 'pods':
      return makePods(await clientOf(order.at), order.count)
    case 'tabs':
      return openTabs(order)
    case 'tab-bytes':
      return tabBytes()
  }
}

function clientOf(kubeconfig: string): Promise<RawClient> {
  const known = clients.get(kubeconfig) ?? openRawClient(kubeconfig)
  clients.set(kubeconfig, known)
  return known
}

async function makeClusters(client: RawClient, count: number): Promise<number> {
  const names = namesOf(count)
  let next = 0
  const makeSome = async (): Promise<void> => {
    while (next < count) {
      const at = next++
      await expectSent(client, 'POST', clustersPath, clusterOf(names[at] ?? '', at))
      await patchStatus(client, names[at] ?? '', at)
    }
  }
  await Promise.all(Array.from({ length: writers }, makeSome))
  return count
}

async function changeClusters(
  client: RawClient,
  { count, perSecond, forMs }: Extract<Order, { do: 'change' }>,
): Promise<number> {
  const names = namesOf(count)
  // A step that shares no factor with the number visits all of them in an order that looks like none.
  const step = 733
  const changes = await atRate({ perSecond, forMs }, async (plannedMs, index) => {
    const at = (index * step) % count
    await patchStatus(client, names[at] ?? '', Math.round(plannedMs) + index)
    return index
  })
  return changes.length
}

async function patchStatus(client: RawClient, name: string, seed: number): Promise<void> {
  const path = `${clustersPath}/${name}/status`
  await expectSent(client, 'PATCH', path, { status: statusOf(seed) })
}

async function makePods(client: RawClient, count: number): Promise<number> {
  const metadata = { name: 'bench' }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata }
  await expectSent(client, 'POST', '/api/v1/namespaces', namespace)
  await createMany(client, count)
  return count
}

async function expectSent(
  client: RawClient,
  method: string,
  path: string,
  object: object,
): Promise<void> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const { status, body } = await client.send(method, path, object, type)
  if (status >= 300) throw new Error(`${method} ${path}: status ${status}: ${body.toString()}`)
}
