import assert from 'node:assert/strict'
import type { Random } from '@skerry/base'
import type { Message, MessageDraft } from '../../wire/etcd-messages-table.ts'
import { StatusOfCall, type EtcdClient } from '../etcd-client.ts'
import { EtcdModel, type ModelCompare, type ModelKey, type ModelWrite } from './etcd-model.ts'

const b = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
const keys = ['a', 'a/1', 'a/2', 'a\0', 'b', 'b/1', 'c', '\xfe']
const ends = ['a/', 'a0', 'b', 'c', 'd', '\xff']
const targets = { version: 0, create: 1, mod: 2, value: 3 } as const

/** Random requests that are sent to the server and to the model; each answer must be the same. */
export class ModelRun {
  readonly model = new EtcdModel()
  readonly #random: Random
  #value = 0
  #lease = 0n

  constructor(random: Random) {
    this.#random = random
  }

  async step(client: EtcdClient): Promise<void> {
    const at = this.below(100)
    if (at < 45) return await this.#txn(client)
    if (at < 70) return await this.#range(client)
    if (at < 78) return await this.#grant(client)
    if (at < 84) return await this.#revoke(client)
    if (at < 90) return await this.#timeToLive(client)
    if (at < 95) return await this.#compact(client)
    return await this.#hash(client)
  }

  below(end: number): number {
    return Math.floor(this.#random.next() * end)
  }

  pick<T>(list: readonly T[], other: T): T {
    return list[this.below(list.length)] ?? other
  }

  ends(): { from: string; until: string } {
    return { from: this.pick(keys, 'a'), until: this.pick(ends, 'b') }
  }

  async #txn(client: EtcdClient): Promise<void> {
    const compares = Array.from({ length: this.below(3) }, () => this.#compare())
    const [success, failure] = [this.#writes(), this.#writes()]
    const answer = await client.call('Txn', {
      compare: compares.map(compareOf),
      success: success.map(operationOf),
      failure: failure.map(operationOf),
    })
    const succeeded = this.model.holds(compares)
    assert.equal(answer.succeeded, succeeded)
    const expected = this.model.write(succeeded ? success : failure)
    assert.deepEqual(answer.responses.map(shownAnswer), expected)
    assert.equal(answer.header?.revision, this.model.revision)
  }

  /** Distinct keys: etcd refuses a request that changes one twice. */
  #writes(): ModelWrite[] {
    const free = new Set(keys)
    return Array.from({ length: this.below(5) }, (): ModelWrite => {
      const { from, until } = this.ends()
      const key = this.pick([...free], '')
      if (this.below(4) === 0 || key === '') return { read: from, until }
      free.delete(key)
      if (this.below(3) === 0) return { delete: key, until: `${key}\0` }
      this.#value += 1
      const lease = this.below(3) === 0 ? this.pick([...this.model.leases], 0n) : 0n
      return { put: key, value: `v${this.#value}`, lease }
    })
  }

  #compare(): ModelCompare {
    const key = this.pick(keys, 'a')
    const known = this.model.range(key, `${key}\0`)[0]
    // It holds about every other time.
    const isRight = this.below(2) === 0
    const target = this.pick(['version', 'create', 'mod', 'value'] as const, 'mod')
    if (target === 'value') return { key, target, is: isRight ? (known?.value ?? 'none') : 'none' }
    const right = {
      version: known?.version,
      create: known?.createRevision,
      mod: known?.modRevision,
    }
    return { key, target, is: isRight ? (right[target] ?? 0) : this.below(this.model.revision + 1) }
  }

  async #range(client: EtcdClient): Promise<void> {
    const { from, until } = this.ends()
    const revision = this.below(2) === 0 ? 0 : 1 + this.below(this.model.revision + 1)
    const limit = this.below(3) === 0 ? 1 + this.below(3) : 0
    const request = { key: b(from), rangeEnd: b(until), revision, limit }
    const [answer, failure] = await outcomeOf(client.call('Range', request))
    if (revision > this.model.revision) return assert.match(failure, /future/)
    if (revision !== 0 && revision < this.model.compacted) {
      return assert.match(failure, /compacted/)
    }
    const all = this.model.range(from, until, revision === 0 ? undefined : revision)
    const page = limit === 0 ? all : all.slice(0, limit)
    assert.deepEqual(answer?.kvs.map(modelKeyOf), page, failure)
    assert.deepEqual([answer?.count, answer?.more], [all.length, page.length < all.length])
  }

  async #grant(client: EtcdClient): Promise<void> {
    this.#lease += 1n
    await client.call('LeaseGrant', { id: this.#lease, ttl: 9_000 })
    this.model.leases.add(this.#lease)
  }

  async #revoke(client: EtcdClient): Promise<void> {
    const id = this.pick([...this.model.leases], 999n)
    const [, failure] = await outcomeOf(client.call('LeaseRevoke', { id }))
    if (!this.model.leases.has(id)) return assert.match(failure, /lease not found/)
    this.model.revoke(id)
    const { header } = await client.call('Range', { key: b('a') })
    assert.equal(header?.revision, this.model.revision)
  }

  async #timeToLive(client: EtcdClient): Promise<void> {
    const id = this.pick([...this.model.leases], 999n)
    const answer = await client.call('LeaseTimeToLive', { id, keys: true })
    assert.equal(answer.ttl > 0, this.model.leases.has(id))
    assert.deepEqual(answer.keys.map(textOf).toSorted(), this.model.keysOf(id).toSorted())
  }

  async #compact(client: EtcdClient): Promise<void> {
    const { revision, compacted } = this.model
    const to = Math.max(1, revision - this.below(30) + 2)
    const request = { revision: to, physical: this.below(2) === 0 }
    const [, failure] = await outcomeOf(client.call('Compact', request))
    if (to > revision) return assert.match(failure, /future/)
    if (to <= compacted) return assert.match(failure, /compacted/)
    assert.equal(failure, '')
    this.model.compacted = to
  }

  async #hash(client: EtcdClient): Promise<void> {
    const { hashRevision, compactRevision } = await client.call('HashKV', {})
    assert.equal(hashRevision, this.model.revision)
    assert.equal(Math.max(0, compactRevision), this.model.compacted)
  }
}

async function outcomeOf<T>(call: Promise<T>): Promise<[T | undefined, string]> {
  try {
    return [await call, '']
  } catch (error) {
    if (error instanceof StatusOfCall) return [undefined, error.text]
    throw error
  }
}

function compareOf({ key, target, is }: ModelCompare): MessageDraft<'Compare'> {
  const compare = { key: b(key), target: targets[target] }
  if (target === 'value') return { ...compare, value: b(String(is)) }
  const field = { version: 'version', create: 'createRevision', mod: 'modRevision' }[target]
  return { ...compare, [field]: Number(is) }
}

function operationOf(write: ModelWrite): MessageDraft<'RequestOp'> {
  if ('put' in write) {
    const { value, lease } = write
    return { requestPut: { key: b(write.put), value: b(value), lease } }
  }
  const rangeEnd = b(write.until)
  if ('read' in write) return { requestRange: { key: b(write.read), rangeEnd } }
  return { requestDeleteRange: { key: b(write.delete), rangeEnd } }
}

function shownAnswer(answer: Message<'ResponseOp'>): number | ModelKey[] {
  if (answer.responseRange) return answer.responseRange.kvs.map(modelKeyOf)
  return answer.responseDeleteRange?.deleted ?? 0
}

function modelKeyOf({ key, value, ...rest }: Message<'KeyValue'>): ModelKey {
  return { key: textOf(key), value: textOf(value), ...rest }
}
