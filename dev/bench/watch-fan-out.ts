import { setTimeout as sleep } from 'node:timers/promises'
import { atRate, configMap, create } from './measure/api-load.ts'
import type { RawClient } from '../processes/raw-client.ts'

const configMaps = '/api/v1/namespaces/bench/configmaps'
const openAtOnce = 32
const endMsMax = 60_000
const newline = 0x0a

/**
 * Milliseconds from planning each write to the moment when the last of all watchers has its event.
 * Every watcher sees every write, in order, so the n-th line of each is the n-th write's.
 */
export async function watchLatencies(
  client: RawClient,
  { watchers, perSecond, forMs }: { watchers: number; perSecond: number; forMs: number },
): Promise<number[]> {
  const { body } = await client.get(`${configMaps}?limit=1`)
  // A list always carries its resourceVersion.
  const list = JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }
  const writes = Math.round((perSecond * forMs) / 1_000)
  const missing = new Int32Array(writes).fill(watchers)
  const lastMs = new Float64Array(writes)
  const onLines = (seen: { lines: number }, chunk: Buffer): void => {
    const nowMs = performance.now()
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
      const index = seen.lines++
      const left = (missing[index] ?? 0) - 1
      missing[index] = left
      if (left === 0) lastMs[index] = nowMs
    }
  }
  const path = `${configMaps}?watch=1&resourceVersion=${list.metadata.resourceVersion}`
  using streams = new DisposableStack()
  await inGroups(watchers, openAtOnce, async () => {
    const seen = { lines: 0 }
    streams.use(await client.open(path, (chunk) => onLines(seen, chunk)))
  })
  const planned: number[] = []
  await atRate({ perSecond, forMs }, async (plannedMs, index) => {
    planned[index] = plannedMs
    await create(client, configMaps, configMap(`fan-${watchers}-${index}`, { text: 'b' }))
  })
  const endMs = performance.now() + endMsMax
  while (missing.some((count) => count > 0) && performance.now() < endMs) await sleep(20)
  // A server may close a watcher that lags. A missing event then counts as late as the end of the wait.
  const givenUpMs = performance.now()
  // The n-th commit is not always the n-th request's, but at this rate nearly: latencies are of the
  // n-th plan to the n-th event.
  return planned.map((startMs, index) => (lastMs[index] || givenUpMs) - startMs)
}

async function inGroups(count: number, size: number, task: () => Promise<void>): Promise<void> {
  let left = count
  const worker = async (): Promise<void> => {
    while (left-- > 0) await task()
  }
  await Promise.all(Array.from({ length: size }, worker))
}
