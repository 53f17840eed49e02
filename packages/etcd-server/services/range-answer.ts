import { keyRange } from '../engine/key-range.ts'
import { noBytes, type KeyValue } from '../engine/key-value.ts'
import { countRange, readRange } from '../engine/read-range.ts'
import type { EngineTransaction } from '../engine/engine-transaction.ts'
import type { EtcdEngine } from '../engine/etcd-engine.ts'
import { LargeAnswer } from '../grpc/grpc-call.ts'
import { etcdServerBounds } from '../limits-table.ts'
import type { Message, MessageDraft } from '../wire/etcd-messages-table.ts'
import type { TxnBudget } from './txn-budget.ts'

const { sliceKeys, sliceBytes } = etcdServerBounds.readRange

type RangeRequest = Message<'RangeRequest'>
type KeyValueDraft = MessageDraft<'KeyValue'>
export type RangeBody = Omit<MessageDraft<'RangeResponse'>, 'header'>

const sortOrders = Object.freeze({ none: 0, ascend: 1, descend: 2 })
const sortTargets = Object.freeze({ key: 0, version: 1, create: 2, mod: 3, value: 4 })

export function isSortOption({ sortOrder, sortTarget }: RangeRequest): boolean {
  return sortOrder >= 0 && sortOrder <= 2 && sortTarget >= 0 && sortTarget <= 4
}

/** Answers at a readable revision, in slices of the event loop. */
export async function rangeAt(
  engine: EtcdEngine,
  request: RangeRequest,
  revision: number,
): Promise<RangeBody> {
  const range = keyRange(request.key, request.rangeEnd)
  if (range.isOneKey) {
    const head = engine.log.head(range.from, revision)
    return shape(request, { kvs: head ? [head.kv] : [], count: head ? 1 : 0 })
  }
  if (request.countOnly) return { count: await countRange(engine, range, revision) }
  const limit = isCutLate(request) || request.limit <= 0 ? Infinity : request.limit
  return shape(request, await readRange(engine, range, revision, limit))
}

/** Divides a large answer, so that nobody waits while all of it is written. */
export function inParts(
  answer: MessageDraft<'RangeResponse'>,
): MessageDraft<'RangeResponse'> | LargeAnswer<'RangeResponse'> {
  const { kvs = [], ...rest } = answer
  const parts: { kvs: KeyValueDraft[] }[] = []
  let bytes = Infinity
  for (const kv of kvs) {
    const size = (kv.key?.length ?? 0) + (kv.value?.length ?? 0)
    bytes += size
    const last = parts.at(-1)
    if (last && bytes <= sliceBytes && last.kvs.length < sliceKeys) last.kvs.push(kv)
    else {
      parts.push({ kvs: [kv] })
      bytes = size
    }
  }
  return parts.length < 2 ? answer : new LargeAnswer(answer, [rest, ...parts])
}

/** Answers inside a transaction, which sees its own changes. */
export function rangeWithin(
  transaction: EngineTransaction,
  request: RangeRequest,
  budget: TxnBudget,
): RangeBody {
  const range = keyRange(request.key, request.rangeEnd)
  const revision = Math.max(0, request.revision)
  if (request.countOnly) return { count: transaction.count(range, revision) }
  const limit = isCutLate(request) || request.limit <= 0 ? Infinity : request.limit
  const kvs = budget.read(transaction, range, { revision, limit })
  const isWhole = range.isOneKey || kvs.length < limit
  const rest = isWhole ? 0 : transaction.count(range, revision, kvs.at(-1)?.key)
  const body = shape(request, { kvs, count: kvs.length + rest })
  budget.keep(body.kvs ?? [])
  return body
}

/** `kvs` are all entries of the range, or the first ones up to the limit if nothing else chooses among them. */
function shape(
  request: RangeRequest,
  { kvs, count }: { kvs: readonly KeyValue[]; count: number },
): RangeBody {
  if (request.countOnly) return { count }
  const chosen = isCutLate(request) ? sorted(kvs.filter(filterOf(request)), request) : kvs
  const isCut = request.limit > 0 && chosen.length > request.limit
  const page = isCut ? chosen.slice(0, request.limit) : chosen
  const more = isCut || (!isCutLate(request) && page.length < count)
  return { kvs: request.keysOnly ? page.map(withoutValue) : page, more, count }
}

/** Returns true if the entries are wanted by their keys, upwards, and none is filtered out. */
export function isPlain({ sortOrder, sortTarget, ...filters }: RangeRequest): boolean {
  const { minModRevision, maxModRevision, minCreateRevision, maxCreateRevision } = filters
  if (minModRevision || maxModRevision || minCreateRevision || maxCreateRevision) return false
  const isUp = sortOrder === sortOrders.ascend && sortTarget === sortTargets.key
  return sortOrder === sortOrders.none || isUp
}

/** Returns true if all entries must be known before the limit applies. */
function isCutLate(request: RangeRequest): boolean {
  const { minModRevision, maxModRevision, minCreateRevision, maxCreateRevision } = request
  if (minModRevision || maxModRevision || minCreateRevision || maxCreateRevision) return true
  return request.sortOrder !== sortOrders.none || request.sortTarget !== sortTargets.key
}

function filterOf(request: RangeRequest): (kv: KeyValue) => boolean {
  const { minModRevision, maxModRevision, minCreateRevision, maxCreateRevision } = request
  return ({ modRevision, createRevision }) =>
    (maxModRevision === 0 || modRevision <= maxModRevision) &&
    (minModRevision === 0 || modRevision >= minModRevision) &&
    (maxCreateRevision === 0 || createRevision <= maxCreateRevision) &&
    (minCreateRevision === 0 || createRevision >= minCreateRevision)
}

const compares: Readonly<Record<number, (a: KeyValue, b: KeyValue) => number>> = Object.freeze({
  [sortTargets.key]: (a, b) => Buffer.compare(a.key, b.key),
  [sortTargets.version]: (a, b) => a.version - b.version,
  [sortTargets.create]: (a, b) => a.createRevision - b.createRevision,
  [sortTargets.mod]: (a, b) => a.modRevision - b.modRevision,
  [sortTargets.value]: (a, b) => Buffer.compare(a.value, b.value),
})

/** Sorts by key unless the request names another target, which then ascends unless it says otherwise. */
function sorted(kvs: KeyValue[], { sortOrder, sortTarget }: RangeRequest): KeyValue[] {
  const compare = compares[sortTarget]
  if (compare === undefined) return kvs
  return sortOrder === sortOrders.descend
    ? kvs.toSorted((a, b) => compare(b, a))
    : kvs.toSorted(compare)
}

function withoutValue(kv: KeyValue): KeyValue {
  return { ...kv, value: noBytes }
}
