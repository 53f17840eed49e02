import { etcdServerBounds } from '../limits-table.ts'
import { etcdError } from './etcd-errors-table.ts'
import {
  stream,
  unary,
  type CallContext,
  type GrpcMethod,
  type LargeAnswer,
} from '../grpc/grpc-call.ts'
import type { Message, MessageDraft } from '../wire/etcd-messages-table.ts'
import { EngineTransaction } from '../engine/engine-transaction.ts'
import { inParts, rangeAt } from './range-answer.ts'
import { rangeStream } from './range-stream.ts'
import { checkPutNow, deleteNow, hasPut, isReadOnly, mayFail, putNow, runTxn } from './run-txn.ts'
import { headerOf, rightsOf, type ServiceContext } from './service-context.ts'
import { TxnBudget } from './txn-budget.ts'
import { checkDelete, checkPut, checkRange, checkTxn } from './txn-checks.ts'

const { envelopeBytes } = etcdServerBounds.kvService

/** etcdserverpb.KV. Reads are linearizable without asking anybody: there is one member, and it shows durable state only. */
export function kvService(context: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  return {
    Range: unary('RangeRequest', 'RangeResponse', (request, call) => range(context, request, call)),
    RangeStream: stream('RangeRequest', 'RangeStreamResponse', (requests, answers) =>
      rangeStream(context, requests, answers),
    ),
    Put: unary('PutRequest', 'PutResponse', (request, call) => put(context, request, call)),
    DeleteRange: unary('DeleteRangeRequest', 'DeleteRangeResponse', (request, call) =>
      deleteRange(context, request, call),
    ),
    Txn: unary('TxnRequest', 'TxnResponse', (request, call) => txn(context, request, call)),
    Compact: unary('CompactionRequest', 'CompactionResponse', (request, call) =>
      compact(context, request, call),
    ),
  }
}

async function range(
  context: ServiceContext,
  request: Message<'RangeRequest'>,
  call: CallContext,
): Promise<MessageDraft<'RangeResponse'> | LargeAnswer<'RangeResponse'>> {
  const { engine } = context
  checkRange(request)
  rightsOf(context, call).checkRead(request.key, request.rangeEnd)
  const { revision } = engine
  const body = await rangeAt(engine, request, engine.readable(request.revision))
  return inParts({ header: headerOf(engine, revision), ...body })
}

async function put(
  context: ServiceContext,
  request: Message<'PutRequest'>,
  call: CallContext,
): Promise<MessageDraft<'PutResponse'>> {
  const { engine } = context
  checkPut(request)
  rightsOf(context, call).checkPut(request)
  checkSize(context, call)
  return engine.transact({ bytes: call.requestBytes }, (transaction) => {
    checkPutNow(request, transaction, engine)
    const body = putNow(request, transaction)
    return { header: headerOf(engine, transaction.revision), ...body }
  })
}

async function deleteRange(
  context: ServiceContext,
  request: Message<'DeleteRangeRequest'>,
  call: CallContext,
): Promise<MessageDraft<'DeleteRangeResponse'>> {
  const { engine, clock } = context
  checkDelete(request)
  rightsOf(context, call).checkDelete(request)
  checkSize(context, call)
  return engine.transact({ bytes: 0, isShrinking: true }, (transaction) => {
    const body = deleteNow(request, transaction, new TxnBudget(clock))
    return { header: headerOf(engine, transaction.revision), ...body }
  })
}

async function txn(
  context: ServiceContext,
  request: Message<'TxnRequest'>,
  call: CallContext,
): Promise<MessageDraft<'TxnResponse'>> {
  const { engine, clock, limits } = context
  checkTxn(request, limits.txnOperationsMax)
  rightsOf(context, call).checkTxn(request)
  const answered = (transaction: EngineTransaction): MessageDraft<'TxnResponse'> => {
    const budget = new TxnBudget(clock)
    const answer = runTxn(request, transaction, { engine, budget })
    return { ...answer, header: headerOf(engine, transaction.revision) }
  }
  if (isReadOnly(request)) {
    const revision = engine.readable(0)
    return answered(new EngineTransaction(engine.log, { revision, events: [], rows: [] }))
  }
  checkSize(context, call)
  const isShrinking = !hasPut(request)
  const size = { bytes: call.requestBytes, isShrinking, mayFail: mayFail(request) }
  return engine.transact(size, answered)
}

async function compact(
  context: ServiceContext,
  { revision, physical }: Message<'CompactionRequest'>,
  call: CallContext,
): Promise<MessageDraft<'CompactionResponse'>> {
  const { engine } = context
  rightsOf(context, call).checkAdmin()
  const { isDone } = await engine.compact(revision)
  if (physical) await isDone
  return { header: headerOf(engine) }
}

/** etcd counts a request with the envelope in which it would go through Raft. */
function checkSize({ limits }: ServiceContext, { requestBytes }: CallContext): void {
  if (requestBytes + envelopeBytes > limits.requestBytesMax) throw etcdError('requestTooLarge')
}
