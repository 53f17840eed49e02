/**
 * The clients of `bench ha`, as a process in a host of its own. Lines on its input are orders in JSON, each answered by
 * a line. Times are of the machine's monotonic clock, which all its processes share.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openRawClient, type RawClient } from '../../processes/raw-client.ts'
import { configMap, createRate } from '../measure/api-load.ts'
import { obeyOrders } from '../measure/obey-orders.ts'
import { monotonicMs, type Order } from './orders.ts'

const maps = '/api/v1/namespaces/bench/configmaps'
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager'
/** The interval of writes whose first acknowledgement after a fault counts. */
const writeMs = 25
const askMs = 20
const clients = new Map<string, Promise<RawClient>>()

await obeyOrders(obey)
process.exit(0)

async function obey(order: Order): Promise<number> {
  switch (order.do) {
    case 'ask':
      return (await (await clientOf(order.at)).get(order.path)).status
    case 'leads':
      return leads(await clientOf(order.at), order.host)
    case 'fill':
      return fill(await clientOf(order.at), order)
    case 'rate':
      return rate(order)
    case 'write-again':
      return writeAgain(order)
    case 'controllers':
      return untilFurnished(order)
  }
}

function clientOf(kubeconfig: string): Promise<RawClient> {
  const known = clients.get(kubeconfig) ?? openRawClient(kubeconfig)
  clients.set(kubeconfig, known)
  known.catch(() => clients.delete(kubeconfig))
  return known
}

/** Returns 1 if the controllers of the master on this host act, else 0. */
async function leads(client: RawClient, host: string): Promise<number> {
  const { body } = await client.get(lease)
  const { spec } = JSON.parse(body.toString())
  return String(spec?.holderIdentity).startsWith(`${host}_`) ? 1 : 0
}

async function fill(client: RawClient, { count, prefix }: { count: number; prefix: string }) {
  await client.send('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'bench' },
  })
  for (let index = 0; index < count; index += 1) {
    const { status } = await write(client, `${prefix}-${index}`)
    if (status !== 201) throw new Error(`Cannot create: status ${status}`)
  }
  return count
}

function write(client: RawClient, name: string) {
  return client.send('POST', maps, configMap(name, { text: 'a'.repeat(1_024) }))
}

/** Spreads the clients over the servers, and returns the writes per second of all. */
async function rate({ at, clients: count, forMs, prefix }: Extract<Order, { do: 'rate' }>) {
  const servers = await Promise.all(at.slice(0, count).map(clientOf))
  const share = Math.floor(count / servers.length)
  const rates = servers.map((client, index) => {
    const own = share + (index < count % servers.length ? 1 : 0)
    return createRate(client, { clients: own, forMs, prefix: `${prefix}-${index}` })
  })
  return (await Promise.all(rates)).reduce((sum, each) => sum + each, 0)
}

/**
 * Writes at a fixed rate to each of the servers, whether or not answers come, from before the fault on. Returns the
 * milliseconds from `fault` until each of them has acknowledged a write that was sent after it.
 */
async function writeAgain({ at, faultMs, prefix, forMs }: Extract<Order, { do: 'write-again' }>) {
  const again = at.map(async (kubeconfig, server) => {
    const client = await clientOf(kubeconfig)
    const done = Promise.withResolvers<number>()
    const endMs = faultMs + forMs
    for (let n = 0; monotonicMs() < endMs; n += 1) {
      const sentMs = monotonicMs()
      void write(client, `${prefix}-${server}-${n}`).then(
        ({ status }) => {
          if (status === 201 && sentMs >= faultMs) done.resolve(monotonicMs() - faultMs)
        },
        // The next write may be answered.
        () => undefined,
      )
      const isDone = await Promise.race([done.promise, sleep(writeMs)])
      if (isDone !== undefined) return isDone
    }
    throw new Error(`no write was acknowledged within ${forMs} ms`)
  })
  return Math.max(...(await Promise.all(again)))
}

/** Returns the milliseconds from `fault` until controllers have furnished a namespace that was made after it. */
async function untilFurnished({ at, faultMs, name, forMs }: Extract<Order, { do: 'controllers' }>) {
  const client = await clientOf(at)
  const endMs = faultMs + forMs
  const asked = async (ask: () => Promise<{ status: number }>, wanted: readonly number[]) => {
    while (monotonicMs() < endMs) {
      const status = await ask().then(
        (answer) => answer.status,
        () => 0,
      )
      if (wanted.includes(status)) return
      await sleep(askMs)
    }
    throw new Error(`controllers have not furnished namespace ${name} within ${forMs} ms`)
  }
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await asked(() => client.send('POST', '/api/v1/namespaces', object), [201, 409])
  await asked(() => client.get(`/api/v1/namespaces/${name}/serviceaccounts/default`), [200])
  return monotonicMs() - faultMs
}
