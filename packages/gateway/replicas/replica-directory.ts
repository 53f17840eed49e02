import {
  asError,
  createBackoff,
  createWakeFlag,
  runAll,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import type { Store, StoreEvent } from '@skerry/store'
import type { TunnelEnd } from '@skerry/tunnel'
import { replicaIdShape } from './replica-identity.ts'

/** One process of a hub that has several. */
export interface Replica {
  readonly id: string
  /** https://host:port, for the other replicas. */
  readonly address: string
  /** SHA-256 of the certificate that it shows them, in hex: whoever has another one is not it. */
  readonly certificateHash: string
}

export interface DirectoryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface DirectoryListener {
  /** Which tunnels another replica has, changed. */
  onCluster(cluster: string): void
  onReplicas(): void
}

export const directoryDefaults = Object.freeze({
  /** A replica that died is forgotten after this long; its tunnels are not used from when its link ends. */
  ttlSeconds: 10,
  renewMs: 3_000,
  /** How many clusters without a tunnel are remembered with their last end. */
  endsMax: 50_000,
})

const prefix = '/replicas/'
const membersPrefix = `${prefix}members/`
const tunnelsPrefix = `${prefix}tunnels/`
const noBytes = new Uint8Array(0)

/**
 * Who else serves this hub, and which clusters' tunnels end there. Each replica writes its own part
 * into the store, under a lease that ends with it, and follows the others' parts.
 */
export class ReplicaDirectory {
  readonly #self: Replica
  readonly #deps: DirectoryDeps
  readonly #listener: DirectoryListener
  #others = new Map<string, Replica>()
  #holders = new Map<string, Set<string>>()
  readonly #ends = new Map<string, TunnelEnd & { readonly isReplicaGone: boolean }>()
  /** Why tunnels elsewhere end that are about to be taken out, by their key. */
  readonly #farewells = new Map<string, string>()
  readonly #held = new Set<string>()
  /** Why own tunnels ended of which the others do not know yet. */
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

  /** Clusters whose tunnel this other replica has. */
  heldBy(id: string): readonly string[] {
    return [...this.#holders].filter(([, ids]) => ids.has(id)).map(([cluster]) => cluster)
  }

  /** When the last tunnel elsewhere ended, as seen from here; or the replica that had it did. */
  lastEnd(cluster: string): (TunnelEnd & { readonly isReplicaGone: boolean }) | undefined {
    return this.#ends.get(cluster)
  }

  /** Also one that has just come and is not among `others` yet. */
  async find(id: string): Promise<Replica | undefined> {
    const known = this.#others.get(id)
    if (known || !replicaIdShape.test(id)) return known
    const { entry } = await this.#deps.store.get(`${membersPrefix}${id}`)
    return entry && replicaOf(id, entry.value)
  }

  /** Tells the others what this replica has, or why it has it no more; they hear of it soon. */
  setHeld(cluster: string, isHeld: boolean, reason?: string): void {
    if (isHeld === this.#held.has(cluster)) return
    if (isHeld) this.#held.add(cluster)
    else this.#held.delete(cluster)
    if (isHeld || reason === undefined) this.#ownReasons.delete(cluster)
    else this.#ownReasons.set(cluster, reason)
    this.#changed.add(cluster)
    this.#wake.raise()
  }

  /** Once, before requests are served: what the others have now. */
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

  /** Once: when the others can know this one. Whom they do not know they refuse, and that is not forgotten soon. */
  whenTold(signal: AbortSignal): Promise<void> {
    return this.#told.wait(signal)
  }

  /** Follows the others and tells them, until the signal aborts; then they forget this one at once. */
  async run(signal: AbortSignal): Promise<void> {
    await runAll(signal, [
      (scope) => this.#forever(scope, 'Other replicas not seen', () => this.#follow(scope)),
      (scope) => this.#forever(scope, 'Other replicas not told', () => this.#tell(scope)),
    ])
  }

  async #forever(signal: AbortSignal, fault: string, work: () => Promise<void>): Promise<void> {
    const { clock, random, log } = this.#deps
    const backoff = createBackoff({ initialMs: 200, maxMs: 5_000 }, random)
    for (;;) {
      const startMs = clock.monotonicMs()
      try {
        await work()
      } catch (error) {
        if (signal.aborted) throw error
        log.info(`${fault}, trying again`, { error: asError(error) })
      }
      if (clock.monotonicMs() - startMs > 10_000) backoff.reset()
      await clock.sleep(backoff.nextMs(), signal)
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    if (this.#revision === 0) await this.load()
    const options = { prefix, afterRevision: this.#revision }
    // Should the watch have a gap, the next one begins with a list.
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
      // A replica says why before it takes its part away.
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
    // Of what goes with one lease, a replica goes before its tunnels: keys are in order.
    const isReplicaGone = !this.#others.has(place.id)
    const reason = isReplicaGone
      ? 'the replica that had its tunnel is gone'
      : (farewell ?? 'its tunnel to another replica ended')
    // The newest stands last.
    this.#ends.delete(place.cluster)
    this.#ends.set(place.cluster, { reason, atMs: this.#deps.clock.now(), isReplicaGone })
    const oldest = this.#ends.keys().next().value
    if (this.#ends.size > directoryDefaults.endsMax && oldest !== undefined) {
      this.#ends.delete(oldest)
    }
  }

  /** Under one lease: what this process said goes when it does. */
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
      // Away or gone: then the lease ends by itself.
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

/** Undefined for what a replica of another version wrote in another form. */
function replicaOf(id: string, value: Uint8Array): Replica | undefined {
  const read: unknown = JSON.parse(Buffer.from(value).toString('utf8'))
  if (typeof read !== 'object' || read === null) return undefined
  if (!('address' in read) || !('certificateHash' in read)) return undefined
  const { address, certificateHash } = read
  if (typeof address !== 'string' || typeof certificateHash !== 'string') return undefined
  return { id, address, certificateHash }
}
