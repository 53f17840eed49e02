import { keyRange, textOfKey } from '../engine/key-range.ts'
import { etcdError } from './etcd-errors-table.ts'
import type { Message } from '../wire/etcd-messages-table.ts'
import { isSortOption } from './range-answer.ts'
import { hasOverlap, type TxnPart } from './txn-overlaps.ts'
import { etcdServerBounds } from '../limits-table.ts'

const { stepsMax } = etcdServerBounds.txnChecks

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

/**
 * Refuses a transaction that no state of the store would accept. A nested one has what its outer one leaves, as in etcd;
 * all nested ones together are bounded, too, because all run in one turn of the event loop.
 */
export function checkTxn(request: Message<'TxnRequest'>, operationsMax: number): void {
  checkShape(request, operationsMax)
  if (stepsOf(request) > stepsMax) throw etcdError('tooManyOperations')
  for (const branch of [request.success, request.failure]) if (mayClash(branch)) changesOf(branch)
}

/** One operation alone, as each branch of a transaction of Kubernetes has it, does not contradict itself. */
function mayClash(branch: readonly Message<'RequestOp'>[]): boolean {
  return branch.length > 1 || branch[0]?.requestTxn !== undefined
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

function stepsOf({ compare, success, failure }: Message<'TxnRequest'>): number {
  const operations = [...success, ...failure]
  const within = operations.map(({ requestTxn }) => (requestTxn ? stepsOf(requestTxn) : 0))
  return within.reduce((sum, steps) => sum + steps, compare.length + operations.length)
}

function checkOperation(operation: Message<'RequestOp'>, operationsLeft: number): void {
  const { requestRange, requestPut, requestDeleteRange, requestTxn } = operation
  if (requestRange) return checkRange(requestRange)
  if (requestPut) return checkPut(requestPut)
  if (requestDeleteRange) return checkDelete(requestDeleteRange)
  if (requestTxn) return checkShape(requestTxn, operationsLeft)
  throw etcdError('keyNotFound')
}

/** Collects the changes of one branch. No key may be put twice, nor be put and deleted. */
function changesOf(operations: readonly Message<'RequestOp'>[]): TxnPart {
  const puts = new Set<string>()
  for (const { requestPut: put } of operations) if (put) addPut(puts, textOfKey(put.key))
  const deletes = operations.flatMap(({ requestDeleteRange: each }) => {
    // For etcd no key is both in an endless range and put, and so a transaction may do both.
    const range = each && keyRange(each.key, each.rangeEnd)
    return range?.until ? [range] : []
  })
  const within = operations.flatMap(({ requestTxn: txn }) => (txn ? [changesOfTxn(txn)] : []))
  const parts = [
    { puts: new Set(puts), deletes: [] },
    { puts: new Set<string>(), deletes },
    ...within,
  ]
  if (hasOverlap(parts)) throw etcdError('duplicateKey')
  for (const inner of within) for (const key of inner.puts) addPut(puts, key)
  return { puts, deletes: parts.flatMap((part) => part.deletes) }
}

/** Only one branch of a transaction runs, so its branches may name the same keys. */
function changesOfTxn({ success, failure }: Message<'TxnRequest'>): TxnPart {
  const [one, other] = [changesOf(success), changesOf(failure)]
  return { puts: one.puts.union(other.puts), deletes: [...one.deletes, ...other.deletes] }
}

function addPut(puts: Set<string>, key: string): void {
  if (puts.has(key)) throw etcdError('duplicateKey')
  puts.add(key)
}
