import { isJsonObject, StatusError } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { ParentRecord } from '@skerry/edge-apps'
import type { CompanionWrite, Store, Write } from '@skerry/store'
import { siteBounds } from '../limits-table.ts'

/** The parent's record of a unit, and what it must not write meanwhile. */
export interface UnitHold {
  readonly parent: ParentRecord
  /** The nodes that it has, or had. */
  readonly nodes: readonly string[]
  /** The one of them that runs its control plane. */
  readonly server: string
  /** The keys of the objects that are the unit's. */
  readonly keys: readonly string[]
  /** Their uids: nobody makes objects that one of them would own. */
  readonly uids: readonly string[]
  /** Their namespaces. */
  readonly namespaces: readonly string[]
}

/** Outside of the registry, so that no request reaches it. */
const recordPrefix = '/units/'

const { unitsMax } = siteBounds.units.fence

/** Objects that name a node or an owner when they are made or bound. */
const bound = /^\/registry\/(?:core\/(?:pods|persistentvolumeclaims)|apps\/|batch\/)/

/**
 * Refuses writes of objects whose unit acts by itself, or is about to. It stands between the registry and the store of the
 * only server that writes, so that a write is either checked against a fence or over before it counts.
 */
export class UnitFence {
  readonly #holds = new Map<string, { readonly hold: UnitHold; readonly revision: number }>()
  readonly #keys = new Map<string, string>()
  readonly #uids = new Map<string, string>()
  readonly #nodes = new Map<string, string>()
  readonly #writes = new Set<Promise<unknown>>()
  #store: Store | undefined

  /** Reads the records, and returns the store for everybody else. Throws ExpectedError for a damaged record. */
  async guard(inner: Store): Promise<Store> {
    const guarded = this.wrap(inner)
    const { entries, more } = await inner.list({ prefix: recordPrefix, limit: unitsMax })
    if (more) throw damaged(`there are more than ${unitsMax} records of units`)
    for (const { key, value, modRevision: revision } of entries) {
      const hold = readHold(value)
      if (hold === undefined) throw damaged(`the record ${key} of a unit is damaged`)
      this.#holds.set(key.slice(recordPrefix.length), { hold, revision })
    }
    this.#index()
    return guarded
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

  /** Returns the unit that has a node, or had it last. */
  unitOfNode(node: string): string | undefined {
    const now = this.#nodes.get(node)
    if (now !== undefined) return now
    const [last] = [...this.#holds]
      .filter(([, { hold }]) => hold.nodes.includes(node))
      .toSorted(([, a], [, b]) => b.revision - a.revision)
    return last?.[0]
  }

  /** Refuses writes from now on, and resolves when those that were on their way have ended. Nothing is durable yet. */
  async raise(unit: string, hold: UnitHold): Promise<void> {
    this.#holds.set(unit, { hold, revision: this.#holds.get(unit)?.revision ?? 0 })
    this.#index()
    await Promise.allSettled(this.#writes)
  }

  /** Goes back to what is durable: a hold that was raised may never have been put, or its writing failed. */
  async reload(unit: string): Promise<void> {
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
    try {
      const result = await this.store.write({ key: recordPrefix + unit, value, expectRevision })
      if (!result.isApplied)
        throw new Error(`Cannot write the record of unit ${unit}: it has changed`)
      this.#holds.set(unit, { hold, revision: result.revision })
      this.#index()
    } catch (error) {
      // A write that fails may be durable, and the next step follows from what is.
      await this.reload(unit)
      throw error
    }
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
    if (this.#nodes.size > 0) {
      this.#check(write)
      for (const each of write.companions ?? []) this.#check(each)
    }
    const result = this.store.write(write)
    const ended: Promise<unknown> = result
      .catch(() => undefined)
      .then(() => this.#writes.delete(ended))
    this.#writes.add(ended)
    return result
  }

  #check(write: Write | CompanionWrite): void {
    const unit = this.#keys.get(write.key) ?? this.#unitOfNew(write)
    if (unit === undefined) return
    throw new StatusError(
      'Forbidden',
      `Cannot write ${write.key.slice('/registry/'.length)}: unit ${unit} has it as a cluster of its own; change it there, or set the unit's autonomyLevel to L3 first`,
    )
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

function damaged(why: string): ExpectedError {
  const text = `Cannot start: ${why}; restore the store from a backup`
  return new ExpectedError(text, exitCodes.dataDirectory)
}
