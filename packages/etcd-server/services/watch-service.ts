import { stream, type AnswerStream, type GrpcMethod } from '../grpc/grpc-call.ts'
import type { Message } from '../wire/etcd-messages-table.ts'
import type { ServiceContext } from './service-context.ts'
import { WatchStream } from './watch-stream.ts'

/** etcdserverpb.Watch: many watches over one stream. */
export function watchService(context: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  return {
    Watch: stream('WatchRequest', 'WatchResponse', (requests, answers) =>
      watch(context, requests, answers),
    ),
  }
}

/** A client that sends no more requests goes on receiving, so the call ends with its peer. */
async function watch(
  context: ServiceContext,
  requests: AsyncIterable<Message<'WatchRequest'>>,
  answers: AnswerStream<'WatchResponse'>,
): Promise<void> {
  const ended = Promise.withResolvers<never>()
  const onAbort = (): void => ended.reject(answers.signal.reason)
  answers.signal.addEventListener('abort', onAbort, { once: true })
  using watches = new WatchStream(context, answers, ended.reject)
  const reading = (async () => {
    for await (const request of requests) watches.take(request)
  })()
  reading.catch(ended.reject)
  await ended.promise
}
