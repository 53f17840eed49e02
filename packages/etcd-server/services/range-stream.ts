import { keyRange } from '../engine/key-range.ts'
import { noBytes, type KeyValue } from '../engine/key-value.ts'
import { countRange, slicesOf } from '../engine/read-range.ts'
import type { AnswerStream } from '../grpc/grpc-call.ts'
import { GrpcError } from '../grpc/grpc-error.ts'
import type { Message } from '../wire/etcd-messages-table.ts'
import { isPlain } from './range-answer.ts'
import { headerOf, rightsOf, type ServiceContext } from './service-context.ts'
import { checkRange } from './txn-checks.ts'

/**
 * KV.RangeStream of etcd 3.7 (rpc.proto): the answer of Range in parts, of which the last one has the header, the
 * count, and whether there is more. It holds one part, and reads on when the reader has taken it. All parts are of one
 * revision; the stream fails if that is compacted meanwhile.
 */
export async function rangeStream(
  context: ServiceContext,
  requests: AsyncIterable<Message<'RangeRequest'>>,
  answers: AnswerStream<'RangeStreamResponse'>,
): Promise<void> {
  const { engine } = context
  const request = await firstOf(requests)
  checkRange(request)
  if (!isPlain(request)) {
    throw new GrpcError(
      'unimplemented',
      'RangeStream does not support custom sort orders or filters',
    )
  }
  rightsOf(context, answers).checkRead(request.key, request.rangeEnd)
  const range = keyRange(request.key, request.rangeEnd)
  const header = headerOf(engine)
  const revision = engine.readable(request.revision)
  if (request.countOnly) {
    const count = await countRange(engine, range, revision)
    return void answers.send({ rangeResponse: { header, count } })
  }
  const limit = request.limit > 0 ? request.limit : Infinity
  let count = 0
  let last: readonly KeyValue[] = []
  for await (const slice of slicesOf(engine, range, revision, limit)) {
    if (last.length > 0 && !answers.send({ rangeResponse: { kvs: last } })) {
      await answers.whenDrained()
    }
    last = request.keysOnly ? slice.map((kv) => ({ ...kv, value: noBytes })) : slice
    count += slice.length
  }
  const after = last.at(-1)?.key
  const rest = count < limit ? 0 : await countRange(engine, range, revision, after)
  answers.send({
    rangeResponse: { header, kvs: last, count: count + rest, more: rest > 0 },
  })
}

async function firstOf<T>(requests: AsyncIterable<T>): Promise<T> {
  for await (const request of requests) return request
  throw new GrpcError('internal', 'the request ended before its message did')
}
