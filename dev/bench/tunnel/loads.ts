import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../measure/api-load.ts'
import { median } from '../measure/figure.ts'
import { LoadConnection, type Entry } from './connection.ts'
import { perUnit, processorTimeOf } from './processor-time.ts'
import type { Subject } from './subject.ts'

/** The bytes and duration of a load; the delayed link carries less than loopback. */
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
const transfers = 3
/** The time after which a small request counts as never answered. */
const blockedMs = 10_000
const endless = '/bulk?bytes=1000000000000'

/**
 * The time after which hot code is compiled, also in an agent, which starts without compilers
 * (roles/runtime/compile-when-busy.ts).
 */
const warmUpMs = 20_000
const warmUpClients = 100

type Load = (subject: Subject, size: LoadSize, signal: AbortSignal) => Promise<Values>

/** The loads by name, in the order in which they are measured. */
const loads = {
  connect: ({ entry }, _size, signal) => measureConnect(entry, signal),
  down: (subject, { bulkBytes }, signal) =>
    measureBulk(subject, { name: 'down', bytes: bulkBytes, transfer: download }, signal),
  up: (subject, { bulkBytes }, signal) =>
    measureBulk(subject, { name: 'up', bytes: bulkBytes, transfer: upload }, signal),
  'rate.1': (subject, { forMs }, signal) => measureSmall(subject, { inFlight: 1, forMs }, signal),
  'rate.100': (subject, { forMs }, signal) =>
    measureSmall(subject, { inFlight: 100, forMs }, signal),
  behind: ({ entry }, size, signal) => measureBehindBulk(entry, size, signal),
} satisfies Readonly<Record<string, Load>>

export const loadNames: readonly string[] = Object.keys(loads)

/** Measures all loads without faults, or only these ones. */
export async function measureLoads(
  subject: Subject,
  size: LoadSize,
  only: readonly string[] = loadNames,
): Promise<Values> {
  const signal = AbortSignal.timeout(deadlineMs)
  const values: Values = {}
  for (const [name, load] of Object.entries<Load>(loads)) {
    if (only.includes(name)) Object.assign(values, await load(subject, size, signal))
  }
  return values
}

/** Sends small requests for a while and does not count them. */
export async function warmUp({ entry }: Subject): Promise<void> {
  const connections = await openMany(entry, warmUpClients, AbortSignal.timeout(deadlineMs))
  try {
    await askFor(connections, warmUpMs)
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** Measures the time to the first answer on a new connection, including TLS. */
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

interface Bulk {
  readonly name: string
  readonly bytes: number
  readonly transfer: (connection: LoadConnection, bytes: number) => Promise<{ status: number }>
}

const download: Bulk['transfer'] = (connection, bytes) => connection.get(`/bulk?bytes=${bytes}`)
const upload: Bulk['transfer'] = (connection, bytes) => connection.post('/sink', bytes)

/**
 * Measures megabytes (10^6) per second of one stream, and the CPU time of each end: the median of three
 * transfers, after a smaller one. A tunnel lives for days, so the first second, in which TCP and compilers
 * adapt, is not measured.
 */
async function measureBulk(
  subject: Subject,
  { name, bytes, transfer }: Bulk,
  signal: AbortSignal,
): Promise<Values> {
  const connection = await LoadConnection.open(subject.entry, signal)
  const rates: number[] = []
  try {
    await expectOk(transfer(connection, bytes / 8))
    const { time } = await processorTimeOf(subject, async () => {
      for (let count = 0; count < transfers; count += 1) {
        const startMs = performance.now()
        await expectOk(transfer(connection, bytes))
        rates.push(bytes / 1_000 / (performance.now() - startMs))
      }
    })
    const units = (transfers * bytes) / 1e6
    return { [name]: median(rates), ...perUnit(name, time, { units, factor: 1 }) }
  } finally {
    connection.close()
  }
}

/**
 * Measures requests per second, their latency and processor time, with clients that each wait for their
 * answer.
 */
async function measureSmall(
  subject: Subject,
  { inFlight, forMs }: { inFlight: number; forMs: number },
  signal: AbortSignal,
): Promise<Values> {
  const connections = await openMany(subject.entry, inFlight, signal)
  try {
    await askFor(connections, forMs / 2)
    const startMs = performance.now()
    const { result: times, time } = await processorTimeOf(subject, () => askFor(connections, forMs))
    const name = `rate.${inFlight}`
    return {
      [name]: (times.length * 1_000) / (performance.now() - startMs),
      [`p50.${inFlight}`]: percentile(times, 50),
      [`p99.${inFlight}`]: percentile(times, 99),
      ...perUnit(name, time, { units: times.length, factor: 1_000 }),
    }
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** Measures one request at a time next to bulk downloads and a reader that has stopped. */
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

/** Does the same as askFor, but an answer that does not come counts as the time waited, and ends it. */
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

/** Opens this many connections, each of which has had an answer. */
async function openMany(
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

/** Opens readers that stop at once while the other side has more to send. */
export async function openStalled(entry: Entry, count: number): Promise<LoadConnection[]> {
  const connections = await openMany(entry, count, AbortSignal.timeout(deadlineMs))
  for (const connection of connections) connection.stall(endless)
  return connections
}

async function expectOk(answer: Promise<{ status: number }>): Promise<void> {
  const { status } = await answer
  if (status !== 200) throw new Error(`Cannot measure: status ${status}`)
}

function ignore(): void {}
