import { EtcdClient } from '../../../packages/etcd-server/testing/etcd-client.ts'
import { median } from '../measure/figure.ts'
import { clientsOfConnection } from './benchmark-tool.ts'

/** One request of a client, which it repeats. The number counts the requests of all clients. */
type Work = (client: EtcdClient, number: number) => Promise<unknown>

export interface RateLoad {
  readonly clients: number
  readonly measureMs: number
  readonly work: Work
}

const valueBytes = 1_024
const value = Buffer.alloc(valueBytes, 'v')
/** etcd's numbers of a comparison for equality, and of a key's last change. */
const [equal, modification] = [0, 2]

/** Keys are new, so that each write grows the store, as etcd's own benchmark does it. */
export function putting(prefix: string): Work {
  return (client, number) => client.call('Put', { key: Buffer.from(`${prefix}/${number}`), value })
}

/** Reads one of the keys that `putting` has made. */
export function reading(prefix: string, count: number): Work {
  return (client, number) =>
    client.call('Range', { key: Buffer.from(`${prefix}/${number % count}`) })
}

/** Creates a key unless it exists, in the words of an API server: kine knows no others. */
export function creating(prefix: string): Work {
  return (client, number) => {
    const key = Buffer.from(`${prefix}/${number}`)
    const isNew = { result: equal, target: modification, key, modRevision: 0 }
    return client.call('Txn', { compare: [isNew], success: [{ requestPut: { key, value } }] })
  }
}

/** Returns how many answers came in a second. Each client waits for its answers. */
export async function rateOf(
  endpoint: string,
  { clients, measureMs, work }: RateLoad,
): Promise<number> {
  const count = Math.ceil(clients / clientsOfConnection)
  const connections = Array.from({ length: count }, () => new EtcdClient(endpoint))
  const all = Array.from({ length: clients }, (_, at) => connections[at % count])
  try {
    const startMs = performance.now()
    const endMs = startMs + measureMs
    let next = 0
    let answers = 0
    const each = async (client: EtcdClient | undefined): Promise<void> => {
      while (client && performance.now() < endMs) {
        await work(client, next++)
        answers += 1
      }
    }
    await Promise.all(all.map(each))
    return (answers * 1_000) / (performance.now() - startMs)
  } finally {
    for (const client of connections) client[Symbol.dispose]()
  }
}

/** Returns the median of the milliseconds from a put to its event at a watch. */
export async function watchMs(endpoint: string, prefix: string, puts = 200): Promise<number> {
  using client = new EtcdClient(endpoint)
  using watcher = new EtcdClient(endpoint)
  const watch = await watchOn(watcher, prefix)
  const times: number[] = []
  for (let number = 0; number < puts; number += 1) {
    const startMs = performance.now()
    const seen = watch.untilEvents(1)
    await putting(prefix)(client, number)
    await seen
    times.push(performance.now() - startMs)
  }
  return median(times)
}

/** Returns how many events all watches together were given in a second. */
export async function fanOutRate(
  endpoint: string,
  prefix: string,
  { watches, puts }: { watches: number; puts: number },
): Promise<number> {
  using client = new EtcdClient(endpoint)
  const watchers = Array.from({ length: watches }, () => new EtcdClient(endpoint))
  try {
    const all = await Promise.all(watchers.map((watcher) => watchOn(watcher, prefix)))
    const startMs = performance.now()
    const seen = Promise.all(all.map((watch) => watch.untilEvents(puts)))
    const numbers = Array.from({ length: puts }, (_, number) => number)
    await Promise.all(numbers.map((number) => putting(prefix)(client, number)))
    await seen
    return (watches * puts * 1_000) / (performance.now() - startMs)
  } finally {
    for (const watcher of watchers) watcher[Symbol.dispose]()
  }
}

/** Returns how many leases are kept alive in a second, each on a stream of its own. */
export async function keepAliveRate(
  endpoint: string,
  { leases, measureMs }: { leases: number; measureMs: number },
): Promise<number> {
  using client = new EtcdClient(endpoint)
  const endMs = performance.now() + measureMs
  const counts = Array.from({ length: leases }, async () => {
    const { id } = await client.call('LeaseGrant', { ttl: 600 })
    const stream = client.stream('LeaseKeepAlive')
    const answers = stream[Symbol.asyncIterator]()
    let count = 0
    while (performance.now() < endMs) {
      stream.send({ id })
      await answers.next()
      count += 1
    }
    stream.cancel()
    return count
  })
  const total = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  return (total * 1_000) / measureMs
}

interface Watch {
  /** Resolves when this many further events have come. */
  untilEvents(count: number): Promise<void>
}

async function watchOn(client: EtcdClient, prefix: string): Promise<Watch> {
  const stream = client.stream('Watch')
  const from = Buffer.from(`${prefix}/`)
  stream.send({ createRequest: { key: from, rangeEnd: Buffer.from(`${prefix}0`) } })
  const answers = stream[Symbol.asyncIterator]()
  await answers.next()
  return {
    async untilEvents(count) {
      for (let missing = count; missing > 0;) {
        const { value: answer, done } = await answers.next()
        if (done === true) throw new Error('The watch has ended')
        missing -= answer.events.length
      }
    },
  }
}
