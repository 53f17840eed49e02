import { isInRange, keyRange, textOfKey, type KeyRange } from '../engine/key-range.ts'
import { etcdError } from './etcd-errors-table.ts'
import type { Message } from '../wire/etcd-messages-table.ts'
import { isSortOption } from './range-answer.ts'

export function checkRange(request: Message<'RangeRequest'>): void {
  if (request.key.length === 0) throw etcdError('emptyKey')
  if (!isSortOption(request)) throw etcdError('invalidSortOption')
}

export function checkPut(request: Message<'PutRequest'>): void {
  if (request.key.length === 0) throw etcdError('emptyKey')
  if (request.ignoreValue && request.value.length > 0) throw etcdError('valueProvided')
  if (request.ignoreLease && request.lease !== 0n) throw etcdError('leaseProvided')
}

export function checkDelete(request: Message<'DeleteRangeRequest'>): void {
  if (request.key.length === 0) throw etcdError('emptyKey')
}

/** Refuses a transaction that no state of the store would accept. A nested one has what its outer one leaves. */
export function checkTxn(request: Message<'TxnRequest'>, operationsMax: number): void {
  checkShape(request, operationsMax)
  changesOf(request.success)
  changesOf(request.failure)
}

function checkShape(request: Message<'TxnRequest'>, operationsMax: number): void {
  const { compare, success, failure } = request
  const most = Math.max(compare.length, success.length, failure.length)
  if (most > operationsMax) throw etcdError('tooManyOperations')
  for (const { key } of compare) if (key.length === 0) throw etcdError('emptyKey')
  for (const operation of [...success, ...failure]) {
    checkOperation(operation, operationsMax - most)
  }
}

function checkOperation(operation: Message<'RequestOp'>, operationsLeft: number): void {
  const { requestRange, requestPut, requestDeleteRange, requestTxn } = operation
  if (requestRange) return checkRange(requestRange)
  if (requestPut) return checkPut(requestPut)
  if (requestDeleteRange) return checkDelete(requestDeleteRange)
  if (requestTxn) return checkShape(requestTxn, operationsLeft)
  throw etcdError('keyNotFound')
}

interface Changes {
  readonly puts: Map<string, Uint8Array>
  readonly deletes: KeyRange[]
}

/** Collects the changes of one branch. No key may be put twice, nor be put and deleted. */
function changesOf(operations: readonly Message<'RequestOp'>[]): Changes {
  const changes: Changes = { puts: new Map(), deletes: [] }
  for (const { requestDeleteRange: each } of operations) {
    // For etcd no key is both in an endless range and put, and so a transaction may do both.
    const range = each && keyRange(each.key, each.rangeEnd)
    if (range?.until) changes.deletes.push(range)
  }
  for (const { requestPut: put } of operations) if (put) addPut(changes, put.key)
  for (const { requestTxn: txn } of operations) {
    if (!txn) continue
    // Only one branch of the nested one runs, so its branches may name the same keys.
    const [one, other] = [changesOf(txn.success), changesOf(txn.failure)]
    const inner = { puts: new Map([...one.puts, ...other.puts]), deletes: one.deletes }
    inner.deletes.push(...other.deletes)
    for (const range of inner.deletes) {
      for (const key of changes.puts.values()) {
        if (isInRange(key, range)) throw etcdError('duplicateKey')
      }
    }
    for (const key of inner.puts.values()) addPut(changes, key)
    changes.deletes.push(...inner.deletes)
  }
  return changes
}

function addPut({ puts, deletes }: Changes, key: Uint8Array): void {
  const text = textOfKey(key)
  const isTaken = puts.has(text) || deletes.some((range) => isInRange(key, range))
  if (isTaken) throw etcdError('duplicateKey')
  puts.set(text, key)
}
