import { setTimeout as sleep } from 'node:timers/promises'
import type { AnyObject } from '@skerry/api'
import { percentile } from '../measure/api-load.ts'
import type { RawClient } from '../../processes/raw-client.ts'
import { expectSent, watchObjects } from '../fleet/watched-objects.ts'

/** How long a user of the hub waits while something else goes on, in milliseconds. */
export interface UserWaits {
  readonly get: number
  readonly list: number
  readonly watch: number
  /** The number of requests that were not answered with 200. */
  readonly refused: number
}

const everyMs = 100
/** A list of all clusters is asked for this seldom. */
const listEveryMs = 2_000
const watchEveryMs = 500
const clusters = '/apis/cluster.karmada.io/v1alpha1/clusters'
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const configMaps = '/api/v1/namespaces/default/configmaps'
const name = 'bench-probe'

/** Reads and watches a little, as a user does, while the work goes on. Returns the 99th percentiles. */
export async function waitsDuring<T>(
  client: RawClient,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly waits: UserWaits }> {
  const asked = { get: [] as number[], list: [] as number[], watch: [] as number[], refused: 0 }
  const state = { isOver: false }
  const timed = async (into: number[], ask: () => Promise<{ status: number }>): Promise<void> => {
    const startMs = performance.now()
    const status = await ask().then(
      (answer) => answer.status,
      () => 0,
    )
    if (status === 200) into.push(performance.now() - startMs)
    else asked.refused += 1
  }
  const repeat = async (ms: number, ask: () => Promise<void>): Promise<void> => {
    const open = new Set<Promise<void>>()
    while (!state.isOver) {
      const one: Promise<void> = ask().finally(() => open.delete(one))
      open.add(one)
      await sleep(ms)
    }
    await Promise.all(open)
  }
  const watching = await startWatch(client, asked.watch)
  const probes = [
    repeat(everyMs, () => timed(asked.get, () => client.get('/api/v1/namespaces/default'))),
    repeat(listEveryMs, () => timed(asked.list, () => client.get(clusters, tableType))),
    repeat(watchEveryMs, () => watching.touch()),
  ]
  try {
    const result = await work()
    return { result, waits: { ...quantiles(asked), refused: asked.refused } }
  } finally {
    state.isOver = true
    await Promise.allSettled(probes)
    watching[Symbol.dispose]()
  }
}

function quantiles(asked: Record<'get' | 'list' | 'watch', readonly number[]>) {
  const of = (values: readonly number[]): number => (values.length ? percentile(values, 99) : NaN)
  return { get: of(asked.get), list: of(asked.list), watch: of(asked.watch) }
}

interface ProbeWatch extends Disposable {
  /** Changes the object that is watched. */
  touch(): Promise<void>
}

/** Measures the time from a write to the event of another client's watch. */
async function startWatch(client: RawClient, into: number[]): Promise<ProbeWatch> {
  await client.send('POST', configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
  })
  let sent = 0
  const sentAtMs = new Map<string, number>()
  const watch = await watchObjects(client, configMaps, ({ metadata, data }: AnyObject) => {
    if (metadata.name !== name) return
    const { count } = (data ?? {}) as { count?: string }
    const atMs = sentAtMs.get(count ?? '')
    if (atMs === undefined) return
    sentAtMs.delete(count ?? '')
    into.push(performance.now() - atMs)
  })
  return {
    async touch() {
      sent += 1
      const count = String(sent)
      sentAtMs.set(count, performance.now())
      // A hub that is away takes it no later: the wait of the next one counts.
      await expectSent(client, 'PATCH', `${configMaps}/${name}`, { data: { count } }).catch(
        () => void sentAtMs.delete(count),
      )
    },
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  }
}
