/** The clients of `history-load.ts`: each notes what it asked and what was answered. */
import { isStatusError, StatusError, type ConfigMap, type Lease } from '@skerry/api'
import { systemClock, type Random } from '@skerry/base'
import {
  NotConnectedError,
  resources,
  type ClusterClient,
  type ResourceClient,
} from '@skerry/client'
import type {
  LeaseRecord,
  Operation,
  Version,
  WatchedEvent,
  WatchRecord,
} from '../../../testing/histories/history.ts'

export const namespace = 'default'
const labels = Object.freeze({ app: 'history' })
export const labelSelector = 'app=history'
const leaseName = 'kube-controller-manager'
const registers = ['reg-0', 'reg-1', 'reg-2', 'reg-3'] as const
const answerMsMax = 8_000

export function versionOf({ metadata, data }: ConfigMap): Version {
  return { value: data?.['v'] ?? '', revision: Number(metadata.resourceVersion) }
}

export function mapOf(name: string, value: string): ConfigMap {
  const metadata = { name, namespace, labels: { ...labels } }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { v: value } }
}

/** Reads and changes a few objects at one master, as fast as they are answered. */
export class RegisterClient {
  readonly operations: Operation[] = []
  readonly #name: string
  readonly #maps: ResourceClient<ConfigMap>
  readonly #random: Random
  readonly #known = new Map<string, ConfigMap | undefined>()
  #count = 0

  constructor(name: string, cluster: ClusterClient, random: Random) {
    this.#name = name
    this.#maps = cluster.resource(resources.configMaps)
    this.#random = random
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const key = registers[Math.floor(this.#random.next() * registers.length)] ?? registers[0]
      if (!this.#known.has(key) || this.#random.next() < 0.5) await this.#read(key)
      else await this.#write(key)
      await systemClock.sleep(40 + 80 * this.#random.next(), signal).catch(() => undefined)
    }
  }

  async readAll(): Promise<void> {
    for (const key of registers) await this.#read(key)
  }

  async #read(key: string): Promise<void> {
    const calledMs = performance.now()
    try {
      const found = await this.#get(key)
      const action = { kind: 'read', found: found && versionOf(found) } as const
      this.operations.push({ ...this.#at(key, calledMs), action })
      this.#known.set(key, found)
    } catch {
      // A read without an answer proves nothing.
      this.#known.delete(key)
    }
  }

  async #get(name: string): Promise<ConfigMap | undefined> {
    try {
      return await this.#maps.get({ namespace, name }, AbortSignal.timeout(answerMsMax))
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  async #write(key: string): Promise<void> {
    const before = this.#known.get(key)
    const value = `${this.#name}-${(this.#count += 1)}`
    const expect = before ? versionOf(before).revision : 0
    const calledMs = performance.now()
    const note = (outcome: number | 'refused' | 'unknown'): void => {
      const at = this.#at(key, calledMs)
      const answeredMs = outcome === 'unknown' ? Infinity : at.answeredMs
      const action = { kind: 'write', value, expect, outcome } as const
      this.operations.push({ ...at, answeredMs, action })
    }
    const late = AbortSignal.timeout(answerMsMax)
    try {
      const written = await (before
        ? this.#maps.update({ ...before, data: { v: value } }, late)
        : this.#maps.create(mapOf(key, value), late))
      note(versionOf(written).revision)
      this.#known.set(key, written)
    } catch (error) {
      this.#known.delete(key)
      if (isRefusal(error)) return note('refused')
      if (!isNeverDone(error)) note('unknown')
    }
  }

  #at(key: string, calledMs: number) {
    return { client: this.#name, key, calledMs, answeredMs: performance.now() }
  }
}

function isRefusal(error: unknown): boolean {
  return isStatusError(error, 'Conflict') || isStatusError(error, 'AlreadyExists')
}

/** The server has refused to try, or was not reached. */
function isNeverDone(error: unknown): boolean {
  if (error instanceof NotConnectedError) return true
  if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return true
  return error instanceof StatusError && error.code < 500 && error.code !== 408
}

/** The objects of one list, and the events of the watch after it. */
interface Segment {
  readonly from: number
  readonly listed: Readonly<Record<string, Version>>
  readonly events: WatchedEvent[]
  reached: number
}

/**
 * Watches the objects of the load, and goes on at the last version after each break. A master that has started again
 * knows no history, as upstream's: there the client lists again, which begins another record.
 */
export class MapWatcher {
  readonly #watcher: string
  readonly #maps: ResourceClient<ConfigMap>
  readonly #segments: Segment[] = []

  constructor(watcher: string, cluster: ClusterClient) {
    this.#watcher = watcher
    this.#maps = cluster.resource(resources.configMaps)
  }

  /** Everything up to this revision was shown. */
  get reached(): number {
    return this.#segments.at(-1)?.reached ?? 0
  }

  async list(signal: AbortSignal): Promise<void> {
    const { metadata, items } = await this.#maps.list({ namespace, labelSelector }, signal)
    const listed = Object.fromEntries(
      items.map((each) => [each.metadata.name ?? '', versionOf(each)]),
    )
    const from = Number(metadata.resourceVersion)
    this.#segments.push({ from, listed, events: [], reached: from })
  }

  async run(signal: AbortSignal): Promise<void> {
    const request = { namespace, labelSelector }
    const note = (event: WatchEvent<ConfigMap>): void => this.#note(event)
    const again = (scope: AbortSignal): Promise<void> => this.list(scope)
    const reached = (): number => this.reached
    await watchOn({ client: this.#maps, request, reached, note, again }, signal)
  }

  /** `until` is the end of the last record. */
  records(until: number): WatchRecord[] {
    return this.#segments.map(({ from, listed, events, reached }, at) => ({
      watcher: `${this.#watcher}.${at + 1}`,
      from,
      listed,
      events,
      until: at === this.#segments.length - 1 ? until : reached,
    }))
  }

  #note(event: WatchEvent<ConfigMap>): void {
    const segment = this.#segments.at(-1)
    if (!segment) return
    if (event.type === 'BOOKMARK') {
      segment.reached = Math.max(segment.reached, Number(event.resourceVersion))
      return
    }
    const { type, object } = event
    const version = versionOf(object)
    segment.events.push({ type, key: object.metadata.name ?? '', ...version })
    // A server that goes back is asked to go on from there, so that the record shows it.
    segment.reached = version.revision
  }
}

/** Notes all versions of the leaders' lease. */
export class LeaseWatcher {
  readonly records: LeaseRecord[] = []
  readonly #leases: ResourceClient<Lease>
  #reached = 0

  constructor(cluster: ClusterClient) {
    this.#leases = cluster.resource(resources.leases)
  }

  async run(signal: AbortSignal): Promise<void> {
    const request = { namespace: 'kube-system', fieldSelector: `metadata.name=${leaseName}` }
    const again = async (scope: AbortSignal): Promise<void> => {
      const { metadata } = await this.#leases.list(request, scope)
      this.#reached = Number(metadata.resourceVersion)
    }
    await again(signal)
    const note = (event: WatchEvent<Lease>): void => {
      if (event.type === 'BOOKMARK') return
      const { metadata, spec } = event.object
      this.#reached = Number(metadata.resourceVersion)
      const { holderIdentity: holder = '' } = spec ?? {}
      this.records.push({ revision: this.#reached, holder, seenMs: performance.now() })
    }
    const reached = (): number => this.#reached
    await watchOn({ client: this.#leases, request, reached, note, again }, signal)
  }
}

type WatchEvent<T extends ConfigMap | Lease> =
  ReturnType<ResourceClient<T>['watch']> extends AsyncIterable<infer Event> ? Event : never

interface Watching<T> {
  readonly client: {
    watch(request: WatchRequest, signal: AbortSignal): AsyncIterable<T>
  }
  readonly request: WatchRequest
  /** The version after which it goes on. */
  readonly reached: () => number
  readonly note: (event: T) => void
  /** Lists again. */
  readonly again: (signal: AbortSignal) => Promise<void>
}

type WatchRequest = Parameters<ResourceClient<ConfigMap>['watch']>[0]

async function watchOn<T>(
  { client, request, reached, note, again }: Watching<T>,
  signal: AbortSignal,
): Promise<void> {
  let isGone = false
  while (!signal.aborted) {
    try {
      if (isGone) await again(signal)
      isGone = false
      const resourceVersion = String(reached())
      for await (const event of client.watch({ ...request, resourceVersion }, signal)) note(event)
    } catch (error) {
      if (signal.aborted) return
      isGone ||= isStatusError(error, 'Expired')
    }
    await systemClock.sleep(150, signal).catch(() => undefined)
  }
}
