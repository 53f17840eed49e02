import { isJsonObject, StatusError } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { ParentRecord } from '@skerry/edge-apps'
import {
  StoreUnavailableError,
  type CompanionWrite,
  type Store,
  type Write,
  type WriteResult,
} from '@skerry/store'
import { siteBounds } from '../limits-table.ts'

/** The parent's record of a unit, and what it must not write meanwhile. */
export interface UnitHold {
  readonly parent: ParentRecord
  /** The nodes that it has, or had. */
  readonly nodes: readonly string[]
  /** The one of them that runs its control plane, or speaks for it if several do. */
  readonly server: string
  /** All nodes that shall run it. If omitted, the server alone. */
  readonly masters?: readonly string[]
  /** The keys of the objects that are the unit's. */
  readonly keys: readonly string[]
  /** Their uids: nobody makes objects that one of them would own. */
  readonly uids: readonly string[]
  /** Their namespaces. */
  readonly namespaces: readonly string[]
  /** The range from which nodes that join the unit while it is away get that of their pods. If omitted, none is set aside. */
  readonly block?: string | undefined
}

/** Outside of the registry, so that no request reaches it. */
const recordPrefix = '/units/'

/** Changes with each record. Every write of each of several masters requires it as that master has read it. */
const epochKey = '/units-epoch'

const { unitsMax, renewalsMax } = siteBounds.units.fence

/** Objects that name a node or an owner when they are made or bound. */
const bound = /^\/registry\/(?:core\/(?:pods|persistentvolumeclaims)|apps\/|batch\/)/

export interface FenceOptions {
  /** True if other masters write to the same store. */
  readonly isShared?: boolean
}

/**
 * A fence around objects whose unit acts by itself, or is about to: their writes are refused. It stands between the registry and the
 * store. If one server alone writes, a write is either checked against the fence or over before that counts. Each of several masters
 * writes only as long as the records are those that it knows: the store refuses the write otherwise, and the master looks again.
 */
export class UnitFence {
  readonly #isShared: boolean
  readonly #holds = new Map<string, { readonly hold: UnitHold; readonly revision: number }>()
  readonly #keys = new Map<string, string>()
  readonly #uids = new Map<string, string>()
  readonly #nodes = new Map<string, string>()
  readonly #writes = new Set<Promise<unknown>>()
  #store: Store | undefined
  #epoch = 0

  constructor({ isShared = false }: FenceOptions = {}) {
    this.#isShared = isShared
  }

  /** Reads the records, and returns the store for everybody else. Throws ExpectedError for a damaged record. */
  async guard(inner: Store): Promise<Store> {
    const guarded = this.wrap(inner)
    if (this.#isShared) {
      const first = { key: epochKey, value: Buffer.from('1'), expectRevision: 0 }
      await inner.write(first)
    }
    await this.renew()
    return guarded
  }

  /** Reads the records, which another master may have changed. */
  async renew(): Promise<void> {
    const { store } = this
    const { revision, entries, more } = await store.list({ prefix: recordPrefix, limit: unitsMax })
    if (more) throw damaged(`there are more than ${unitsMax} records of units`)
    const { entry } = this.#isShared ? await store.get(epochKey, revision) : {}
    const epoch = entry?.modRevision ?? 0
    // An older look that comes late.
    if (epoch < this.#epoch) return
    const found = entries.map(({ key, value, modRevision }) => {
      const hold = readHold(value)
      if (hold === undefined) throw damaged(`the record ${key} of a unit is damaged`)
      return [key.slice(recordPrefix.length), { hold, revision: modRevision }] as const
    })
    this.#epoch = epoch
    this.#holds.clear()
    for (const [unit, held] of found) this.#holds.set(unit, held)
    this.#index()
  }

  /** Returns the store for everybody else, without a look at its records. */
  wrap(inner: Store): Store {
    this.#store = inner
    return {
      revision: () => inner.revision(),
      get: (key, revision) => inner.get(key, revision),
      list: (options) => inner.list(options),
      write: async (write) => this.#write(write),
      watch: (options, signal) => inner.watch(options, signal),
      compact: (revision) => inner.compact(revision),
      compactedRevision: () => inner.compactedRevision(),
      grantLease: (ttlSeconds) => inner.grantLease(ttlSeconds),
      keepLeaseAlive: (leaseId) => inner.keepLeaseAlive(leaseId),
      revokeLease: (leaseId) => inner.revokeLease(leaseId),
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }

  /** The store behind the fence, for the acts alone. */
  get store(): Store {
    if (this.#store === undefined) throw new Error('The fence guards no store yet')
    return this.#store
  }

  holdOf(unit: string): UnitHold | undefined {
    return this.#holds.get(unit)?.hold
  }

  /** Resolves with the ranges that are set aside for units that are away. */
  async blocks(): Promise<string[]> {
    if (this.#isShared) await this.renew()
    return [...this.#holds.values()].flatMap(({ hold: { parent, block } }) =>
      parent.phase === 'own' || block === undefined ? [] : [block],
    )
  }

  /** Returns the unit that has a node, or had it last. */
  unitOfNode(node: string): string | undefined {
    const now = this.#nodes.get(node)
    if (now !== undefined) return now
    const [last] = [...this.#holds]
      .filter(([, { hold }]) => hold.nodes.includes(node))
      .toSorted(([, a], [, b]) => b.revision - a.revision)
    return last?.[0]
  }

  /**
   * Refuses writes from now on, and resolves when those that were on their way have ended. It is durable already if others write,
   * too.
   */
  async raise(unit: string, hold: UnitHold): Promise<void> {
    if (this.#isShared) return this.put(unit, hold)
    this.#holds.set(unit, { hold, revision: this.#holds.get(unit)?.revision ?? 0 })
    this.#index()
    await Promise.allSettled(this.#writes)
  }

  /** Goes back to what is durable: a hold that was raised may never have been put, or its writing failed. */
  async reload(unit: string): Promise<void> {
    if (this.#isShared) return this.renew()
    const { entry } = await this.store.get(recordPrefix + unit)
    const hold = entry && readHold(entry.value)
    if (entry && hold) this.#holds.set(unit, { hold, revision: entry.modRevision })
    else this.#holds.delete(unit)
    this.#index()
  }

  /** Makes a hold durable. A fence that falls does so only then; call `raise` before one that rises. */
  async put(unit: string, hold: UnitHold): Promise<void> {
    const expectRevision = this.#holds.get(unit)?.revision ?? 0
    const value = Buffer.from(JSON.stringify(hold))
    const epoch = { key: epochKey, value: Buffer.from('1'), expectRevision: this.#epoch }
    const companions = this.#isShared ? [epoch] : []
    try {
      const write = { key: recordPrefix + unit, value, expectRevision, companions }
      const result = await this.store.write(write)
      if (!result.isApplied) throw changed(unit)
      if (this.#isShared) return await this.renew()
      this.#holds.set(unit, { hold, revision: result.revision })
      this.#index()
    } catch (error) {
      // A write that fails may be durable, and the next step follows from what is.
      await this.reload(unit)
      throw error
    }
  }

  /** Writes for the side that acts on a unit. Rejects if another master has changed the record of the unit. */
  async writeFor(unit: string, write: Write): Promise<WriteResult> {
    const key = recordPrefix + unit
    const requires = [{ key, revision: this.#holds.get(unit)?.revision ?? 0 }]
    const result = await this.store.write({ ...write, requires })
    if (result.isApplied || result.refusedBy !== key) return result
    await this.reload(unit)
    throw changed(unit)
  }

  #index(): void {
    for (const index of [this.#keys, this.#uids, this.#nodes]) index.clear()
    for (const [unit, { hold }] of this.#holds) {
      if (hold.parent.phase === 'own') continue
      for (const key of hold.keys) this.#keys.set(key, unit)
      for (const uid of hold.uids) this.#uids.set(uid, unit)
      for (const node of hold.nodes) this.#nodes.set(node, unit)
    }
  }

  #write(write: Write): ReturnType<Store['write']> {
    if (this.#isShared) return this.#writeShared(write)
    const refusal = this.#refusalOf(write)
    if (refusal) throw refusal
    const result = this.store.write(write)
    const ended: Promise<unknown> = result
      .catch(() => undefined)
      .then(() => this.#writes.delete(ended))
    this.#writes.add(ended)
    return result
  }

  async #writeShared(write: Write): Promise<WriteResult> {
    for (let renewals = 0; ; renewals += 1) {
      const refusal = this.#refusalOf(write)
      // Another master may have taken the unit back.
      if (refusal !== undefined && renewals > 0) throw refusal
      if (refusal === undefined) {
        const requires = [...(write.requires ?? []), { key: epochKey, revision: this.#epoch }]
        const result = await this.store.write({ ...write, requires })
        if (result.isApplied || result.refusedBy !== epochKey) return result
      }
      if (renewals >= renewalsMax) {
        const options = { isSent: false }
        throw new StoreUnavailableError('Cannot write: units change sides', options)
      }
      await this.renew()
    }
  }

  #refusalOf(write: Write): StatusError | undefined {
    if (this.#nodes.size === 0) return undefined
    for (const each of [write, ...(write.companions ?? [])]) {
      const unit = this.#keys.get(each.key) ?? this.#unitOfNew(each)
      if (unit === undefined) continue
      return new StatusError(
        'Forbidden',
        `Cannot write ${each.key.slice('/registry/'.length)}: unit ${unit} has it as a cluster of its own; change it there, or set the unit's autonomyLevel to L3 first`,
      )
    }
    return undefined
  }

  /** Nobody binds pods to the unit's nodes, or makes objects that its own would own. */
  #unitOfNew({ key, value }: Write | CompanionWrite): string | undefined {
    if (value === undefined || !bound.test(key)) return undefined
    const object: unknown = JSON.parse(Buffer.from(value).toString())
    if (!isJsonObject(object) || !isJsonObject(object['metadata'])) return undefined
    const { metadata, spec } = object
    const node =
      isJsonObject(spec) && key.startsWith('/registry/core/pods/') ? spec['nodeName'] : ''
    const ofNode = typeof node === 'string' ? this.#nodes.get(node) : undefined
    if (ofNode !== undefined) return ofNode
    const owners = Array.isArray(metadata['ownerReferences']) ? metadata['ownerReferences'] : []
    for (const owner of owners) {
      const unit = isJsonObject(owner) ? this.#uids.get(String(owner['uid'])) : undefined
      if (unit !== undefined) return unit
    }
    return undefined
  }
}

function readHold(value: Uint8Array): UnitHold | undefined {
  try {
    const hold: unknown = JSON.parse(Buffer.from(value).toString())
    const isWhole =
      isJsonObject(hold) &&
      isJsonObject(hold['parent']) &&
      typeof hold['server'] === 'string' &&
      ['nodes', 'keys', 'uids', 'namespaces'].every((field) => Array.isArray(hold[field]))
    // Only `put` writes it.
    return isWhole ? (hold as unknown as UnitHold) : undefined
  } catch {
    // The caller names the record.
    return undefined
  }
}

function changed(unit: string): Error {
  return new Error(`Cannot write for unit ${unit}: its record has changed`)
}

function damaged(why: string): ExpectedError {
  const text = `Cannot start: ${why}; restore the store from a backup`
  return new ExpectedError(text, exitCodes.dataDirectory)
}
