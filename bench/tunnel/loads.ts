import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../api-load.ts'
import { LoadConnection, type Entry } from './connection.ts'

/** How much and how long; the delayed link carries less than loopback. */
export interface LoadSize {
  readonly bulkBytes: number
  readonly forMs: number
}

export const loopbackSize: LoadSize = { bulkBytes: 268_435_456, forMs: 2_000 }
export const linkSize: LoadSize = { bulkBytes: 67_108_864, forMs: 4_000 }

export type Values = Record<string, number>

const deadlineMs = 120_000
const connectCount = 20
const bulkStreams = 4
/** A small request that is not answered in this time is not answered at all. */
const blockedMs = 10_000
const endless = '/bulk?bytes=1000000000000'

/** Everything that is measured while all is well. */
export async function measureLoads(entry: Entry, size: LoadSize): Promise<Values> {
  const signal = AbortSignal.timeout(deadlineMs)
  return {
    ...(await measureConnect(entry, signal)),
    ...(await measureBulk(entry, size, signal)),
    ...(await measureSmall(entry, 1, size, signal)),
    ...(await measureSmall(entry, 100, size, signal)),
    ...(await measureBehindBulk(entry, size, signal)),
  }
}

/** From nothing to the first answer, TLS included. */
async function measureConnect(entry: Entry, signal: AbortSignal): Promise<Values> {
  const times: number[] = []
  for (let index = 0; index < connectCount; index += 1) {
    const startMs = performance.now()
    const connection = await LoadConnection.open(entry, signal)
    await expectOk(connection.get('/small'))
    times.push(performance.now() - startMs)
    connection.close()
  }
  return { connect: percentile(times, 50) }
}

/** Megabytes (10^6) per second of one stream; the second transfer counts. */
async function measureBulk(
  entry: Entry,
  { bulkBytes }: LoadSize,
  signal: AbortSignal,
): Promise<Values> {
  const connection = await LoadConnection.open(entry, signal)
  const rate = async (bytes: number, transfer: () => Promise<{ status: number }>) => {
    const startMs = performance.now()
    await expectOk(transfer())
    return bytes / 1_000 / (performance.now() - startMs)
  }
  const down = (bytes: number) => rate(bytes, () => connection.get(`/bulk?bytes=${bytes}`))
  const up = (bytes: number) => rate(bytes, () => connection.post('/sink', bytes))
  try {
    await down(bulkBytes / 8)
    const downRate = await down(bulkBytes)
    await up(bulkBytes / 8)
    return { down: downRate, up: await up(bulkBytes) }
  } finally {
    connection.close()
  }
}

/** Requests per second and their latency, by clients that each wait for their answer. */
async function measureSmall(
  entry: Entry,
  inFlight: number,
  { forMs }: LoadSize,
  signal: AbortSignal,
): Promise<Values> {
  const connections = await openMany(entry, inFlight, signal)
  try {
    await askFor(connections, forMs / 2)
    const startMs = performance.now()
    const times = await askFor(connections, forMs)
    return {
      [`rate.${inFlight}`]: (times.length * 1_000) / (performance.now() - startMs),
      [`p50.${inFlight}`]: percentile(times, 50),
      [`p99.${inFlight}`]: percentile(times, 99),
    }
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** One request at a time beside bulk downloads and a reader that has stopped. */
async function measureBehindBulk(
  entry: Entry,
  { forMs }: LoadSize,
  signal: AbortSignal,
): Promise<Values> {
  const connections = await openMany(entry, bulkStreams + 2, signal)
  const [small, stalled, ...bulk] = connections
  try {
    stalled?.stall(endless)
    for (const connection of bulk) connection.get(endless).catch(ignore)
    await sleep(forMs / 2)
    const times = small ? await askUntil(small, forMs) : []
    return { 'behind.p50': percentile(times, 50), 'behind.p99': percentile(times, 99) }
  } finally {
    for (const connection of connections) connection.close()
  }
}

async function askFor(connections: readonly LoadConnection[], forMs: number): Promise<number[]> {
  const endMs = performance.now() + forMs
  const times: number[] = []
  const ask = async (connection: LoadConnection): Promise<void> => {
    while (performance.now() < endMs) {
      const startMs = performance.now()
      await expectOk(connection.get('/small'))
      times.push(performance.now() - startMs)
    }
  }
  await Promise.all(connections.map(ask))
  return times
}

/** As askFor, but an answer that does not come counts as the time it was waited for, and ends it. */
async function askUntil(connection: LoadConnection, forMs: number): Promise<number[]> {
  const times: number[] = []
  const endMs = performance.now() + forMs
  while (performance.now() < endMs) {
    const startMs = performance.now()
    const timer = setTimeout(() => connection.close(), blockedMs)
    try {
      await expectOk(connection.get('/small'))
    } catch {
      times.push(performance.now() - startMs)
      return times
    } finally {
      clearTimeout(timer)
    }
    times.push(performance.now() - startMs)
  }
  return times
}

const openAtOnce = 50

/** So many connections, of which each has had an answer. */
export async function openMany(
  entry: Entry,
  count: number,
  signal: AbortSignal,
): Promise<LoadConnection[]> {
  const connections: LoadConnection[] = []
  while (connections.length < count) {
    const missing = Math.min(openAtOnce, count - connections.length)
    const opening = Array.from({ length: missing }, () => LoadConnection.open(entry, signal))
    connections.push(...(await Promise.all(opening)))
  }
  return connections
}

/** Readers that stop right away, while the other side has more to send. */
export async function openStalled(entry: Entry, count: number): Promise<LoadConnection[]> {
  const connections = await openMany(entry, count, AbortSignal.timeout(deadlineMs))
  for (const connection of connections) connection.stall(endless)
  return connections
}

export async function expectOk(answer: Promise<{ status: number }>): Promise<void> {
  const { status } = await answer
  if (status !== 200) throw new Error(`Cannot measure: status ${status}`)
}

function ignore(): void {}
