import { setTimeout as sleep } from 'node:timers/promises'
import { examplePod } from './example-pod.ts'
import type { RawClient } from '../../processes/raw-client.ts'

const configMaps = '/api/v1/namespaces/bench/configmaps'
const pods = '/api/v1/namespaces/bench/pods'

export interface CreateLoad {
  readonly clients: number
  readonly forMs: number
  /** The prefix of the objects' names; each load needs another one. */
  readonly prefix: string
}

/**
 * Returns how many objects per second are created by clients that each wait for their answer. Each object
 * holds 1 KiB of data.
 */
export async function createRate(client: RawClient, load: CreateLoad): Promise<number> {
  const data = { text: 'a'.repeat(1_024) }
  const startMs = performance.now()
  const endMs = startMs + load.forMs
  let count = 0
  const writer = async (writerName: number): Promise<void> => {
    for (let index = 0; performance.now() < endMs; index += 1) {
      const name = `${load.prefix}-${writerName}-${index}`
      await create(client, configMaps, configMap(name, data))
      count += 1
    }
  }
  await Promise.all(Array.from({ length: load.clients }, (_, name) => writer(name)))
  return (count * 1_000) / (performance.now() - startMs)
}

export function configMap(name: string, data: Readonly<Record<string, string>>) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'bench' }, data }
}

export async function create(client: RawClient, path: string, object: object): Promise<void> {
  const { status, body } = await client.send('POST', path, object)
  if (status !== 201) throw new Error(`Cannot measure: ${path}: ${status} ${body.toString()}`)
}

/** Milliseconds of each GET of one object, sent at a fixed rate whether or not answers come. */
export async function readLatencies(
  client: RawClient,
  { perSecond, forMs }: { perSecond: number; forMs: number },
): Promise<number[]> {
  const path = `${configMaps}/one-0-0`
  return atRate({ perSecond, forMs }, async (plannedMs) => {
    const { status } = await client.get(path)
    if (status !== 200) throw new Error(`Cannot measure: GET ${path}: status ${status}`)
    return performance.now() - plannedMs
  })
}

/** Calls at a fixed rate, open loop: an answer that is late delays no later call. */
export async function atRate<T>(
  { perSecond, forMs }: { perSecond: number; forMs: number },
  call: (plannedMs: number, index: number) => Promise<T>,
): Promise<T[]> {
  const count = Math.round((perSecond * forMs) / 1_000)
  const startMs = performance.now()
  const calls: Promise<T>[] = []
  while (calls.length < count) {
    const dueMs = startMs + (calls.length * 1_000) / perSecond
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    calls.push(call(Math.max(dueMs, startMs), calls.length))
  }
  return Promise.all(calls)
}

const createClients = 32

/**
 * Creates pods that are bound to node names without nodes. The service account must exist because upstream's
 * admission checks it.
 */
export async function createMany(client: RawClient, count: number): Promise<void> {
  await ensureServiceAccount(client)
  let next = 0
  const writer = async (): Promise<void> => {
    while (next < count) {
      const index = next++
      const pod = examplePod(`pod-${index}`, `node-${index % 20}`)
      await create(client, pods, {
        ...pod,
        metadata: { ...pod.metadata, namespace: 'bench' },
        spec: { ...pod.spec, serviceAccountName: 'default', automountServiceAccountToken: false },
      })
    }
  }
  await Promise.all(Array.from({ length: createClients }, writer))
}

/** Creates the account itself because its controller does not run here. */
async function ensureServiceAccount(client: RawClient): Promise<void> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
  await client.send('POST', '/api/v1/namespaces/bench/serviceaccounts', account)
}

/** Milliseconds of each list, one after the other. */
export async function timeLists(
  client: RawClient,
  { path, count, entries }: { path: string; count: number; entries: number },
): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < count; round += 1) {
    const startMs = performance.now()
    const { status, body } = await client.get(path)
    times.push(performance.now() - startMs)
    if (status !== 200) throw new Error(`Cannot measure: GET ${path}: status ${status}`)
    if (round > 0) continue
    // The result of JSON.parse is checked right here.
    const { items } = JSON.parse(body.toString()) as { items?: unknown[] }
    if (items?.length !== entries) {
      throw new Error(`Cannot measure: GET ${path}: ${items?.length} items, not ${entries}`)
    }
  }
  return times
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0
}
