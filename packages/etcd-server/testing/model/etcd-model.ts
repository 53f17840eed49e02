/** A key as the model has it; keys and values are texts. */
export interface ModelKey {
  readonly key: string
  readonly value: string
  readonly lease: bigint
  readonly createRevision: number
  readonly modRevision: number
  readonly version: number
}

export interface ModelEvent {
  readonly type: 'put' | 'delete'
  readonly key: string
  readonly value: string
  readonly revision: number
  readonly previous: string | undefined
}

export type ModelWrite =
  | { readonly put: string; readonly value: string; readonly lease: bigint }
  | { readonly delete: string; readonly until: string }
  | { readonly read: string; readonly until: string }

export interface ModelCompare {
  readonly key: string
  readonly target: 'version' | 'create' | 'mod' | 'value'
  readonly is: number | string
}

type State = ReadonlyMap<string, ModelKey>

/**
 * An etcd in the fewest words: a state for each revision, and the events that lead from one to the next. It is written
 * from etcd's documentation and shares no code with the server.
 */
export class EtcdModel {
  readonly #states = new Map<number, State>([[1, new Map()]])
  readonly events: ModelEvent[] = []
  readonly leases = new Set<bigint>()
  revision = 1
  compacted = 0

  at(revision: number): ModelKey[] {
    const state = this.#states.get(revision) ?? new Map<string, ModelKey>()
    return [...state.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
  }

  range(from: string, until: string, revision = this.revision): ModelKey[] {
    return this.at(revision).filter(({ key }) => key >= from && key < until)
  }

  /** Returns what each write answers: the number of deleted keys, or the keys that were read. */
  write(writes: readonly ModelWrite[]): (number | ModelKey[])[] {
    const next = this.revision + 1
    const state = new Map(this.#states.get(this.revision))
    const before = this.events.length
    const answers = writes.map((write) => {
      const within = (from: string, until: string): ModelKey[] =>
        [...state.values()]
          .filter(({ key }) => key >= from && key < until)
          .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      if ('read' in write) return within(write.read, write.until)
      if ('put' in write) {
        const known = state.get(write.put)
        state.set(write.put, {
          key: write.put,
          value: write.value,
          lease: write.lease,
          createRevision: known?.createRevision ?? next,
          modRevision: next,
          version: (known?.version ?? 0) + 1,
        })
        this.#add('put', write.put, { value: write.value, revision: next, previous: known?.value })
        return 0
      }
      const gone = within(write.delete, write.until)
      for (const { key, value } of gone) {
        state.delete(key)
        this.#add('delete', key, { value: '', revision: next, previous: value })
      }
      return gone.length
    })
    if (this.events.length === before) return answers
    this.revision = next
    this.#states.set(next, state)
    return answers
  }

  holds(compares: readonly ModelCompare[]): boolean {
    return compares.every(({ key, target, is }) => {
      const known = this.#states.get(this.revision)?.get(key)
      if (target === 'value') return known?.value === is
      if (target === 'version') return (known?.version ?? 0) === is
      return (known?.[target === 'create' ? 'createRevision' : 'modRevision'] ?? 0) === is
    })
  }

  /** All keys of the lease go in one revision. */
  revoke(lease: bigint): void {
    const keys = this.keysOf(lease)
    this.leases.delete(lease)
    this.write(keys.map((key) => ({ delete: key, until: `${key}\0` })))
  }

  keysOf(lease: bigint): string[] {
    return this.at(this.revision)
      .filter((each) => each.lease === lease)
      .map(({ key }) => key)
  }

  #add(
    type: ModelEvent['type'],
    key: string,
    rest: Pick<ModelEvent, 'value' | 'revision' | 'previous'>,
  ): void {
    this.events.push({ type, key, ...rest })
  }
}
