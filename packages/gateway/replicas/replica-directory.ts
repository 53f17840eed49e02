import {
  createBackoff,
  createWakeFlag,
  logFailure,
  RecentMap,
  runAll,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import type { Store, StoreEvent } from '@skerry/store'
import type { TunnelEnd } from '@skerry/tunnel'
import { replicaIdShape } from './replica-identity.ts'
import { gatewayBounds, directoryDefaults } from '../limits-table.ts'

/** One of a hub's several processes. */
export interface Replica {
  readonly id: string
  /** The address https://host:port for the other replicas. */
  readonly address: string
  /**
   * The SHA-256 of the certificate that it presents to the others, in hex. A peer with another certificate is
   * not this replica.
   */
  readonly certificateHash: string
}

export interface DirectoryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface DirectoryListener {
  /** Called when another replica's tunnels of this cluster change. */
  onCluster(cluster: string): void
  onReplicas(): void
}

const prefix = '/replicas/'
const membersPrefix = `${prefix}members/`
const tunnelsPrefix = `${prefix}tunnels/`
const noBytes = new Uint8Array(0)
const watching = { subject: 'Watch of replicas', message: 'Other replicas not seen, trying again' }
const publishing = {
  subject: 'Lease of a replica',
  message: 'Other replicas not notified, trying again',
}

/**
 * Knows the other replicas of this hub and the clusters whose tunnels end there. Each replica writes its own
 * part into the store, under a lease that ends with it, and watches the others' parts.
 */
export class ReplicaDirectory {
  readonly #self: Replica
  readonly #deps: DirectoryDeps
  readonly #listener: DirectoryListener
  #others = new Map<string, Replica>()
  #holders = new Map<string, Set<string>>()
  readonly #ends = new RecentMap<string, TunnelEnd & { readonly isReplicaGone: boolean }>(
    directoryDefaults.endsMax,
  )
  /** The reasons of ended tunnels elsewhere whose keys are about to be deleted, by key. */
  readonly #farewells = new Map<string, string>()
  readonly #held = new Set<string>()
  /** The reasons of own ended tunnels that the others do not know yet. */
  readonly #ownReasons = new Map<string, string>()
  readonly #changed = new Set<string>()
  readonly #wake = createWakeFlag()
  readonly #told = createWakeFlag()
  #revision = 0

  constructor(self: Replica, deps: DirectoryDeps, listener: DirectoryListener) {
    this.#self = self
    this.#deps = deps
    this.#listener = listener
  }

  /** The other replicas. */
  get others(): ReadonlyMap<string, Replica> {
    return this.#others
  }

  /** The other replicas that have a tunnel of this cluster. */
  holders(cluster: string): readonly string[] {
    return [...(this.#holders.get(cluster) ?? [])]
  }

  /** Returns the clusters whose tunnel this other replica has. */
  heldBy(id: string): readonly string[] {
    return [...this.#holders].filter(([, ids]) => ids.has(id)).map(([cluster]) => cluster)
  }

  /** Returns the last end of a tunnel elsewhere, as seen from here, or of the replica that had it. */
  lastEnd(cluster: string): (TunnelEnd & { readonly isReplicaGone: boolean }) | undefined {
    return this.#ends.get(cluster)
  }

  /** Finds a replica, even one that has just started and is not among `others` yet. */
  async find(id: string): Promise<Replica | undefined> {
    const known = this.#others.get(id)
    if (known || !replicaIdShape.test(id)) return known
    const { entry } = await this.#deps.store.get(`${membersPrefix}${id}`)
    return entry && replicaOf(id, entry.value)
  }

  /** Publishes that this replica has the tunnel, or why it no longer has it; the others learn it soon. */
  setHeld(cluster: string, isHeld: boolean, reason?: string): void {
    if (isHeld === this.#held.has(cluster)) return
    if (isHeld) this.#held.add(cluster)
    else this.#held.delete(cluster)
    if (isHeld || reason === undefined) this.#ownReasons.delete(cluster)
    else this.#ownReasons.set(cluster, reason)
    this.#changed.add(cluster)
    this.#wake.raise()
  }

  /** Loads the others' present entries, once, before requests are served. */
  async load(): Promise<void> {
    const { revision, entries } = await this.#deps.store.list({ prefix })
    const known = new Set(this.#holders.keys())
    this.#others = new Map()
    this.#holders = new Map()
    this.#farewells.clear()
    this.#revision = revision
    for (const entry of entries) this.#put(entry)
    for (const cluster of this.#holders.keys()) known.add(cluster)
    for (const cluster of known) this.#listener.onCluster(cluster)
    this.#listener.onReplicas()
  }

  /**
   * Resolves once the others can know this replica. They refuse an unknown one, and remember that for a
   * while.
   */
  whenTold(signal: AbortSignal): Promise<void> {
    return this.#told.wait(signal)
  }

  /**
   * Watches the others and publishes this replica's part until the signal aborts; the others then forget it
   * at once.
   */
  async run(signal: AbortSignal): Promise<void> {
    await runAll(signal, [
      (scope) => this.#forever(scope, watching, () => this.#follow(scope)),
      (scope) => this.#forever(scope, publishing, () => this.#tell(scope)),
    ])
  }

  async #forever(
    signal: AbortSignal,
    words: typeof watching,
    work: () => Promise<void>,
  ): Promise<void> {
    const { clock, random, log } = this.#deps
    const backoff = createBackoff(gatewayBounds.replicaDirectory.retry, random)
    for (;;) {
      const startMs = clock.monotonicMs()
      try {
        await work()
      } catch (error) {
        if (signal.aborted) throw error
        logFailure(log, { ...words, error })
      }
      if (clock.monotonicMs() - startMs > 10_000) backoff.reset()
      await clock.sleep(backoff.nextMs(), signal)
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    if (this.#revision === 0) await this.load()
    const options = { prefix, afterRevision: this.#revision }
    // If the watch has a gap, the next one begins with a list.
    this.#revision = 0
    for await (const { events } of this.#deps.store.watch(options, signal)) {
      for (const event of events) this.#apply(event)
    }
  }

  #apply(event: StoreEvent): void {
    if (event.type === 'put') this.#put(event)
    else this.#remove(event.key)
    const place = tunnelPlace(event.key)
    if (place) this.#listener.onCluster(place.cluster)
    else this.#listener.onReplicas()
  }

  #put({ key, value }: { key: string; value: Uint8Array }): void {
    const place = tunnelPlace(key)
    if (place && place.id !== this.#self.id) {
      const ids = this.#holders.get(place.cluster) ?? new Set()
      // A replica writes the reason before it deletes its entry.
      if (value.length > 0) this.#farewells.set(key, Buffer.from(value).toString('utf8'))
      else this.#holders.set(place.cluster, ids.add(place.id))
    }
    const id = memberId(key)
    const replica = id !== undefined && id !== this.#self.id && replicaOf(id, value)
    if (replica) this.#others.set(replica.id, replica)
  }

  #remove(key: string): void {
    const id = memberId(key)
    if (id !== undefined) this.#others.delete(id)
    const place = tunnelPlace(key)
    const farewell = this.#farewells.get(key)
    this.#farewells.delete(key)
    const ids = place && this.#holders.get(place.cluster)
    if (!place || !ids?.delete(place.id) || ids.size > 0) return
    this.#holders.delete(place.cluster)
    // When a lease ends, the replica's own key is deleted before those of its tunnels: keys are in order.
    const isReplicaGone = !this.#others.has(place.id)
    const reason = isReplicaGone
      ? 'the replica that had its tunnel is gone'
      : (farewell ?? 'its tunnel to another replica ended')
    this.#ends.set(place.cluster, { reason, atMs: this.#deps.clock.now(), isReplicaGone })
  }

  /** Writes under one lease, so that this process's entries end with it. */
  async #tell(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#deps
    const { id, address, certificateHash } = this.#self
    const { leaseId } = await store.grantLease(directoryDefaults.ttlSeconds)
    try {
      const value = Buffer.from(JSON.stringify({ address, certificateHash }))
      await store.write({ key: `${membersPrefix}${id}`, value, leaseId })
      this.#told.raise()
      for (const cluster of this.#held) this.#changed.add(cluster)
      this.#wake.raise()
      await runAll(signal, [
        async (scope) => {
          for (;;) {
            await clock.sleep(directoryDefaults.renewMs, scope)
            await store.keepLeaseAlive(leaseId)
          }
        },
        (scope) => this.#writeChanges(leaseId, scope),
      ])
      signal.throwIfAborted()
    } finally {
      // The store is unreachable or closed; the lease then expires.
      await store.revokeLease(leaseId).catch(() => undefined)
    }
  }

  async #writeChanges(leaseId: number, signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#wake.wait(signal)
      for (const cluster of this.#changed) {
        this.#changed.delete(cluster)
        const key = `${tunnelsPrefix}${cluster}/${this.#self.id}`
        const isHeld = this.#held.has(cluster)
        const reason = this.#ownReasons.get(cluster)
        this.#ownReasons.delete(cluster)
        if (reason) await this.#deps.store.write({ key, value: Buffer.from(reason), leaseId })
        await this.#deps.store.write(isHeld ? { key, value: noBytes, leaseId } : { key })
      }
    }
  }
}

function memberId(key: string): string | undefined {
  const id = key.startsWith(membersPrefix) ? key.slice(membersPrefix.length) : ''
  return replicaIdShape.test(id) ? id : undefined
}

function tunnelPlace(key: string): { cluster: string; id: string } | undefined {
  if (!key.startsWith(tunnelsPrefix)) return undefined
  const [cluster, id] = key.slice(tunnelsPrefix.length).split('/')
  return cluster && id && replicaIdShape.test(id) ? { cluster, id } : undefined
}

/** Returns undefined for an entry that a replica of another version wrote in another form. */
function replicaOf(id: string, value: Uint8Array): Replica | undefined {
  const read: unknown = JSON.parse(Buffer.from(value).toString('utf8'))
  if (typeof read !== 'object' || read === null) return undefined
  if (!('address' in read) || !('certificateHash' in read)) return undefined
  const { address, certificateHash } = read
  if (typeof address !== 'string' || typeof certificateHash !== 'string') return undefined
  return { id, address, certificateHash }
}
