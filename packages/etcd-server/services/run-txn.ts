import {
  CompactedRevisionError,
  FutureRevisionError,
  NoKeyError,
  NoLeaseError,
} from '../engine/engine-errors.ts'
import type { EngineTransaction } from '../engine/engine-transaction.ts'
import type { EtcdEngine } from '../engine/etcd-engine.ts'
import { keyRange } from '../engine/key-range.ts'
import { noBytes, type KeyValue } from '../engine/key-value.ts'
import type { Message, MessageDraft } from '../wire/etcd-messages-table.ts'
import { rangeWithin } from './range-answer.ts'
import type { TxnBudget } from './txn-budget.ts'

type TxnRequest = Message<'TxnRequest'>

/** The branch that a transaction takes, and those of the transactions within. */
interface TxnPlan {
  readonly succeeded: boolean
  readonly steps: readonly TxnStep[]
}

interface TxnStep {
  readonly operation: Message<'RequestOp'>
  readonly nested?: TxnPlan
}

/** Returns true if no branch can change anything. */
export function isReadOnly({ success, failure }: TxnRequest): boolean {
  return [...success, ...failure].every(
    (each) =>
      each.requestPut === undefined &&
      each.requestDeleteRange === undefined &&
      (each.requestTxn === undefined || isReadOnly(each.requestTxn)),
  )
}

export function hasPut({ success, failure }: TxnRequest): boolean {
  return [...success, ...failure].some(
    (each) => each.requestPut !== undefined || (each.requestTxn && hasPut(each.requestTxn)),
  )
}

/** Returns true if a step may fail after another one has changed something. */
export function mayFail({ success, failure }: TxnRequest): boolean {
  const isNested = [...success, ...failure].some(({ requestTxn }) => requestTxn !== undefined)
  return isNested || success.length > 1 || failure.length > 1
}

/**
 * Decides by the state before any change, checks every step of the chosen branches, and then runs them in order. It throws
 * after its first change only if the request `mayFail`.
 */
export function runTxn(
  request: TxnRequest,
  transaction: EngineTransaction,
  { engine, budget }: { readonly engine: EtcdEngine; readonly budget: TxnBudget },
): MessageDraft<'TxnResponse'> {
  const plan = planOf(request, transaction, budget)
  checkSteps(plan, transaction, engine)
  return answerOf(plan, transaction, budget)
}

function planOf(request: TxnRequest, state: EngineTransaction, budget: TxnBudget): TxnPlan {
  const succeeded = request.compare.every((each) => holds(each, state, budget))
  const operations = succeeded ? request.success : request.failure
  const steps = operations.map((operation) => {
    const { requestTxn } = operation
    return requestTxn ? { operation, nested: planOf(requestTxn, state, budget) } : { operation }
  })
  return { succeeded, steps }
}

function checkSteps({ steps }: TxnPlan, transaction: EngineTransaction, engine: EtcdEngine): void {
  for (const { operation, nested } of steps) {
    const { requestRange, requestPut } = operation
    if (nested) checkSteps(nested, transaction, engine)
    if (requestPut) checkPutNow(requestPut, transaction, engine)
    if (!requestRange || requestRange.revision === 0) continue
    if (requestRange.revision > transaction.revision) throw new FutureRevisionError()
    if (requestRange.revision < engine.compacted) throw new CompactedRevisionError()
  }
}

/** Throws if the state of the store does not allow the put. */
export function checkPutNow(
  request: Message<'PutRequest'>,
  transaction: EngineTransaction,
  engine: EtcdEngine,
): void {
  if (request.lease !== 0n && !engine.leases.isStored(request.lease)) throw new NoLeaseError()
  const isKept = request.ignoreValue || request.ignoreLease
  if (isKept && transaction.head(request.key) === undefined) throw new NoKeyError()
}

function answerOf(
  plan: TxnPlan,
  transaction: EngineTransaction,
  budget: TxnBudget,
): MessageDraft<'TxnResponse'> {
  const responses = plan.steps.map(({ operation, nested }): MessageDraft<'ResponseOp'> => {
    const { requestRange, requestPut, requestDeleteRange } = operation
    const header = (): MessageDraft<'ResponseHeader'> => ({ revision: transaction.revision })
    budget.check()
    // etcd leaves the header of an inner transaction empty.
    if (nested) return { responseTxn: { ...answerOf(nested, transaction, budget), header: {} } }
    if (requestPut) {
      const body = putNow(requestPut, transaction)
      if (body.prevKv) budget.keep([body.prevKv])
      return { responsePut: { header: header(), ...body } }
    }
    if (requestDeleteRange) {
      const body = deleteNow(requestDeleteRange, transaction, budget)
      return { responseDeleteRange: { header: header(), ...body } }
    }
    if (requestRange) {
      const body = rangeWithin(transaction, requestRange, budget)
      return { responseRange: { header: header(), ...body } }
    }
    return {}
  })
  return { header: { revision: transaction.revision }, succeeded: plan.succeeded, responses }
}

export function putNow(
  request: Message<'PutRequest'>,
  transaction: EngineTransaction,
): { prevKv?: KeyValue | undefined } {
  const { key, ignoreValue, ignoreLease } = request
  const known = ignoreValue || ignoreLease ? transaction.head(key)?.kv : undefined
  const value = ignoreValue ? (known?.value ?? noBytes) : request.value
  const lease = ignoreLease ? (known?.lease ?? 0n) : request.lease
  const previous = transaction.put(key, { value, lease })
  return request.prevKv ? { prevKv: previous } : {}
}

/** Reads what is deleted only if the request wants it. */
export function deleteNow(
  request: Message<'DeleteRangeRequest'>,
  transaction: EngineTransaction,
  budget: TxnBudget,
): { deleted: number; prevKvs: readonly KeyValue[] } {
  const range = keyRange(request.key, request.rangeEnd)
  const every = { revision: 0, limit: Infinity }
  const prevKvs = request.prevKv ? budget.read(transaction, range, every) : []
  budget.keep(prevKvs)
  return { deleted: transaction.delete(range), prevKvs }
}

const targets = Object.freeze({ version: 0, create: 1, mod: 2, value: 3, lease: 4 })

const noKey: KeyValue = Object.freeze({
  key: noBytes,
  value: noBytes,
  lease: 0n,
  createRevision: 0,
  modRevision: 0,
  version: 0,
})

/** A missing key has zero counters and no value at all, so that no comparison with a value holds. */
function holds(compare: Message<'Compare'>, state: EngineTransaction, budget: TxnBudget): boolean {
  budget.check()
  const range = keyRange(compare.key, compare.rangeEnd)
  const kvs = budget.read(state, range, { revision: 0, limit: Infinity })
  if (kvs.length > 0) return kvs.every((kv) => compares(compare, kv))
  return compare.target !== targets.value && compares(compare, noKey)
}

function compares(compare: Message<'Compare'>, kv: KeyValue): boolean {
  const order = orderOf(compare, kv)
  switch (compare.result) {
    case 0:
      return order === 0
    case 1:
      return order > 0
    case 2:
      return order < 0
    case 3:
      return order !== 0
    default:
      return true
  }
}

function orderOf(compare: Message<'Compare'>, kv: KeyValue): number {
  switch (compare.target) {
    case targets.version:
      return kv.version - compare.version
    case targets.create:
      return kv.createRevision - compare.createRevision
    case targets.mod:
      return kv.modRevision - compare.modRevision
    case targets.value:
      return Buffer.compare(kv.value, compare.value)
    case targets.lease:
      return kv.lease === compare.lease ? 0 : kv.lease < compare.lease ? -1 : 1
    default:
      return 0
  }
}
