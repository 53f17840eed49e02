import type { Random } from '@skerry/base'
import type { Message, MessageDraft } from '../../wire/etcd-messages-table.ts'
import type { Script, Step, WatchStep } from './script.ts'

type Put = MessageDraft<'PutRequest'>
type Range = MessageDraft<'RangeRequest'>
type Delete = MessageDraft<'DeleteRangeRequest'>
type Compare = MessageDraft<'Compare'>
type Operation = MessageDraft<'RequestOp'>
type Txn = MessageDraft<'TxnRequest'>

const keys = [
  'a',
  'a/1',
  'a/2',
  'a/\xff',
  'a/\xff\xff',
  'b',
  'b/1',
  'b\0',
  'c',
  '\0',
  '\xff',
  'd/x',
]
const leases = [7n, 8n, 9n]

/** Makes random requests over a few keys, most of them valid, with revisions near the newest one. */
export class RandomScript {
  readonly #random: Random
  /** A guess: most requests that change something succeed. */
  #revision = 1
  #value = 0

  constructor(random: Random) {
    this.#random = random
  }

  make(count: number): Script {
    const steps: Step[] = leases.map((id) => ({ call: 'LeaseGrant', request: { id, ttl: 9_000 } }))
    for (let at = 0; at < count; at += 1) steps.push(this.#step())
    const watches = [0, 1, 2, 3, 4, 5].map((kind) => this.#watch(kind))
    return { steps, watches }
  }

  #step(): Step {
    const at = this.#below(100)
    if (at < 30) return { call: 'Put', request: this.#put() }
    if (at < 42) return { call: 'DeleteRange', request: this.#delete() }
    if (at < 68) return { call: 'Range', request: this.#range() }
    if (at < 92) return { call: 'Txn', request: this.#txn(0) }
    if (at < 95) return { call: 'LeaseTimeToLive', request: { id: this.#pick([77n]), keys: true } }
    if (at < 97) return { call: 'LeaseRevoke', request: { id: this.#pick([77n]) } }
    // Compacting physically makes hashes comparable.
    if (at < 98) return { call: 'Compact', request: { revision: 1 + this.#past(), physical: true } }
    return { call: 'LeaseGrant', request: { id: this.#pick(leases), ttl: 9_000 } }
  }

  #put(): Put {
    this.#revision += 1
    this.#value += 1
    const chance = this.#below(20)
    const put = { key: this.#key(), prevKv: this.#below(3) === 0 }
    if (chance === 0) return { ...put, ignoreValue: true, lease: this.#lease() }
    if (chance === 1) return { ...put, ignoreLease: true, value: bytes(`v${this.#value}`) }
    if (chance === 2) return { ...put, ignoreValue: true, ignoreLease: true }
    if (chance === 3) return { ...put, value: bytes('x'), ignoreValue: true }
    return { ...put, value: bytes(`v${this.#value}`), lease: this.#lease() }
  }

  #delete(): Delete {
    const prevKv = this.#below(2) === 0
    if (this.#below(3) > 0) return { key: this.#key(), prevKv }
    return { ...this.#ends(), prevKv }
  }

  #range(): Range {
    const range = this.#below(3) === 0 ? { key: this.#key() } : this.#ends()
    const at = this.#below(12)
    const revision = this.#below(3) === 0 ? this.#past() : 0
    const shape = { ...range, revision, serializable: this.#below(2) === 0 }
    if (at < 3) return { ...shape, limit: this.#below(5) }
    if (at === 3) return { ...shape, countOnly: true }
    if (at === 4) return { ...shape, keysOnly: true, limit: this.#below(3) }
    // Targets without ties: the order of equals is not defined.
    if (at === 5)
      return { ...shape, sortOrder: this.#below(3), sortTarget: 0, limit: this.#below(4) }
    if (at === 6)
      return { ...shape, sortOrder: this.#below(3), sortTarget: 4, limit: this.#below(4) }
    if (at === 7) return { ...shape, minModRevision: this.#past(), limit: this.#below(3) }
    if (at === 8) return { ...shape, maxModRevision: this.#past() }
    if (at === 9) return { ...shape, minCreateRevision: this.#past() }
    if (at === 10) return { ...shape, maxCreateRevision: this.#past() }
    return shape
  }

  #txn(depth: number): Txn {
    const list = <T>(most: number, make: () => T): T[] =>
      Array.from({ length: this.#below(most + 1) }, make)
    return {
      compare: list(3, () => this.#compare()),
      success: list(4, () => this.#operation(depth)),
      failure: list(3, () => this.#operation(depth)),
    }
  }

  #operation(depth: number): Operation {
    const at = this.#below(10)
    if (at < 4) return { requestPut: this.#put() }
    if (at < 6) return { requestDeleteRange: this.#delete() }
    if (at < 9 || depth > 1) return { requestRange: this.#range() }
    return { requestTxn: this.#txn(depth + 1) }
  }

  #compare(): Compare {
    const range: Pick<Compare, 'key' | 'rangeEnd'> =
      this.#below(4) === 0 ? this.#ends() : { key: this.#key() }
    const result = this.#below(4)
    const near = this.#past()
    switch (this.#below(5)) {
      case 0:
        return { ...range, result, target: 0, version: this.#below(4) }
      case 1:
        return { ...range, result, target: 1, createRevision: this.#below(2) && near }
      case 2:
        return { ...range, result, target: 2, modRevision: this.#below(2) && near }
      case 3:
        return { ...range, result, target: 3, value: bytes(`v${this.#below(this.#value + 1)}`) }
      default:
        return { ...range, result, target: 4, lease: this.#lease() }
    }
  }

  #watch(kind: number): WatchStep {
    const all = { key: bytes('\0'), rangeEnd: bytes('\0') }
    const tail = { key: bytes('b'), rangeEnd: bytes('zzz') }
    const startRevision = 1 + this.#below(kind < 2 ? 1 : this.#revision / 3)
    const shapes: Partial<Message<'WatchCreateRequest'>>[] = [
      all,
      { ...all, prevKv: true },
      { ...all, prevKv: true },
      { ...tail, filters: [0] },
      { ...tail, filters: [1], prevKv: true },
      { ...all, fragment: true },
    ]
    return { ...shapes[kind], startRevision }
  }

  #past(): number {
    return Math.max(0, Math.floor(this.#revision * 0.6) + 10 - this.#below(60))
  }

  #lease(): bigint {
    return this.#below(3) === 0 ? this.#pick([77n]) : 0n
  }

  /** One of the leases, or rarely of `others`. */
  #pick(others: readonly bigint[]): bigint {
    const from = this.#below(10) === 0 ? others : leases
    return from[this.#below(from.length)] ?? 7n
  }

  #ends(): { key: Uint8Array; rangeEnd: Uint8Array } {
    const end = this.#below(5) === 0 ? bytes('\0') : this.#key()
    return { key: this.#key(), rangeEnd: end }
  }

  #key(): Uint8Array {
    return this.#below(60) === 0 ? bytes('') : bytes(keys[this.#below(keys.length)] ?? 'a')
  }

  #below(end: number): number {
    return Math.floor(this.#random.next() * end)
  }
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}
