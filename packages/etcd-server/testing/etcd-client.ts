import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2'
import type { Message, MessageDraft, MessageName } from '../wire/etcd-messages-table.ts'
import { decodeMessage, encodeMessage } from '../wire/message-codec.ts'

/** A status that is not OK. */
export class StatusOfCall extends Error {
  override name = 'StatusOfCall'
  readonly code: number
  readonly text: string
  constructor(code: number, text: string) {
    super(`${code}: ${text}`)
    this.code = code
    this.text = text
  }
}

type RpcShape = readonly [path: string, request: MessageName, answer: MessageName]

/** The methods of etcd that tests call. */
const rpcs = {
  Range: ['etcdserverpb.KV/Range', 'RangeRequest', 'RangeResponse'],
  RangeStream: ['etcdserverpb.KV/RangeStream', 'RangeRequest', 'RangeStreamResponse'],
  Put: ['etcdserverpb.KV/Put', 'PutRequest', 'PutResponse'],
  DeleteRange: ['etcdserverpb.KV/DeleteRange', 'DeleteRangeRequest', 'DeleteRangeResponse'],
  Txn: ['etcdserverpb.KV/Txn', 'TxnRequest', 'TxnResponse'],
  Compact: ['etcdserverpb.KV/Compact', 'CompactionRequest', 'CompactionResponse'],
  Watch: ['etcdserverpb.Watch/Watch', 'WatchRequest', 'WatchResponse'],
  LeaseGrant: ['etcdserverpb.Lease/LeaseGrant', 'LeaseGrantRequest', 'LeaseGrantResponse'],
  LeaseRevoke: ['etcdserverpb.Lease/LeaseRevoke', 'LeaseRevokeRequest', 'LeaseRevokeResponse'],
  LeaseKeepAlive: [
    'etcdserverpb.Lease/LeaseKeepAlive',
    'LeaseKeepAliveRequest',
    'LeaseKeepAliveResponse',
  ],
  LeaseTimeToLive: [
    'etcdserverpb.Lease/LeaseTimeToLive',
    'LeaseTimeToLiveRequest',
    'LeaseTimeToLiveResponse',
  ],
  LeaseLeases: ['etcdserverpb.Lease/LeaseLeases', 'LeaseLeasesRequest', 'LeaseLeasesResponse'],
  Status: ['etcdserverpb.Maintenance/Status', 'StatusRequest', 'StatusResponse'],
  Alarm: ['etcdserverpb.Maintenance/Alarm', 'AlarmRequest', 'AlarmResponse'],
  Hash: ['etcdserverpb.Maintenance/Hash', 'HashRequest', 'HashResponse'],
  HashKV: ['etcdserverpb.Maintenance/HashKV', 'HashKVRequest', 'HashKVResponse'],
  Defragment: ['etcdserverpb.Maintenance/Defragment', 'DefragmentRequest', 'DefragmentResponse'],
  Snapshot: ['etcdserverpb.Maintenance/Snapshot', 'Empty', 'SnapshotResponse'],
  MemberList: ['etcdserverpb.Cluster/MemberList', 'MemberListRequest', 'MemberListResponse'],
  AuthStatus: ['etcdserverpb.Auth/AuthStatus', 'Empty', 'AuthStatusResponse'],
} as const satisfies Record<string, RpcShape>

export type RpcName = keyof typeof rpcs
export type RequestOf<Name extends RpcName> = MessageDraft<(typeof rpcs)[Name][1]>
export type AnswerOf<Name extends RpcName> = Message<(typeof rpcs)[Name][2]>

export interface EtcdStream<Request, Answer> {
  send(request: Request): void
  /** Ends the requests; answers may follow. */
  end(): void
  cancel(): void
  [Symbol.asyncIterator](): AsyncIterator<Answer>
}

/** A plain client of etcd's API: it shows what is on the wire, and repeats nothing. */
export class EtcdClient implements Disposable {
  readonly session: ClientHttp2Session

  constructor(endpoint: string, options: Parameters<typeof connect>[1] = {}) {
    this.session = connect(endpoint, options)
    this.session.on('error', () => {})
  }

  /** Rejects with StatusOfCall. */
  async call<Name extends RpcName>(
    name: Name,
    request: RequestOf<Name>,
    headers: Record<string, string> = {},
  ): Promise<AnswerOf<Name>> {
    const [path, requestName, answerName] = rpcs[name]
    const stream = this.open(path, headers)
    stream.end(frameOf(requestName, request))
    const [answer] = await answersOf(stream)
    if (answer === undefined) throw new StatusOfCall(-1, 'no answer')
    // The shape of the method says which message it is.
    return decodeMessage(answerName, answer) as AnswerOf<Name>
  }

  stream<Name extends RpcName>(name: Name): EtcdStream<RequestOf<Name>, AnswerOf<Name>> {
    const [path, requestName, answerName] = rpcs[name]
    const stream = this.open(path, {})
    const frames = framesOf(stream)
    return {
      send: (request) => void stream.write(frameOf(requestName, request)),
      end: () => void stream.end(),
      cancel: () => stream.close(8),
      async *[Symbol.asyncIterator]() {
        for await (const bytes of frames) {
          yield decodeMessage(answerName, bytes) as AnswerOf<Name>
        }
      },
    }
  }

  open(path: string, headers: Record<string, string>): ClientHttp2Stream {
    const stream = this.session.request({
      ':method': 'POST',
      ':path': `/${path}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    // The reader of the answers gets the error as well.
    return stream.on('error', () => {})
  }

  [Symbol.dispose](): void {
    this.session.destroy()
  }
}

export function frameOf<Name extends MessageName>(
  name: Name,
  message: MessageDraft<Name>,
): Uint8Array {
  const body = encodeMessage(name, message).done()
  const frame = Buffer.alloc(5 + body.length)
  frame.writeUInt32BE(body.length, 1)
  frame.set(body, 5)
  return frame
}

/** Returns all answers of a call. Rejects with StatusOfCall. */
export async function answersOf(stream: ClientHttp2Stream): Promise<Buffer[]> {
  const answers: Buffer[] = []
  for await (const answer of framesOf(stream)) answers.push(answer)
  return answers
}

async function* framesOf(stream: ClientHttp2Stream): AsyncGenerator<Buffer, void> {
  let status: string | undefined
  let text = ''
  const take = (fields: IncomingHttpHeaders): void => {
    if (fields['grpc-status'] === undefined) return
    status = fields['grpc-status'] as string
    text = decodeURIComponent((fields['grpc-message'] as string | undefined) ?? '')
  }
  stream.on('response', take)
  stream.on('trailers', take)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1)
      yield rest.subarray(5, end)
      rest = rest.subarray(end)
    }
  }
  if (status !== '0') throw new StatusOfCall(Number(status ?? -1), text)
}
