import type { MessageDraft, MessageName, Message } from '../wire/etcd-messages-table.ts'

/** The proofs of identity that came with a call. */
export interface Caller {
  /** The token that an earlier call of Authenticate gave. */
  readonly token: string | undefined
  /** The common name of the client's certificate, if an authority of the server signed it. */
  readonly commonName: string | undefined
}

/** The facts of a call that a handler may use, in addition to the request. */
export interface CallContext {
  /** The size of the request on the wire. */
  readonly requestBytes: number
  readonly caller: Caller
  /** Aborts when the call ends: by its deadline, by its peer, or with the server. */
  readonly signal: AbortSignal
}

/** The server's side of a stream of answers. */
export interface AnswerStream<Answer extends MessageName> {
  readonly caller: Caller
  /** Aborts when the call ends. */
  readonly signal: AbortSignal
  /** Queues an answer. Returns false if the peer reads too slowly: wait for `whenDrained` then. */
  send(answer: MessageDraft<Answer>): boolean
  /** True if earlier answers wait for the peer. */
  readonly isFull: boolean
  /** Resolves when the peer has taken what was queued. Rejects with the signal's reason. */
  whenDrained(): Promise<void>
}

/**
 * An answer that is large. Its parts together are the whole, since protobuf merges fields that come again; others get
 * through between them.
 */
export class LargeAnswer<Answer extends MessageName> {
  readonly whole: MessageDraft<Answer>
  readonly parts: readonly MessageDraft<Answer>[]
  constructor(whole: MessageDraft<Answer>, parts: readonly MessageDraft<Answer>[]) {
    this.whole = whole
    this.parts = parts
  }
}

type UnaryAnswer<Answer extends MessageName> = MessageDraft<Answer> | LargeAnswer<Answer>

export interface UnaryMethod<
  Request extends MessageName = MessageName,
  Answer extends MessageName = MessageName,
> {
  readonly kind: 'unary'
  readonly request: Request
  readonly answer: Answer
  readonly handle: (
    request: Message<Request>,
    context: CallContext,
  ) => UnaryAnswer<Answer> | Promise<UnaryAnswer<Answer>>
}

export interface StreamMethod<
  Request extends MessageName = MessageName,
  Answer extends MessageName = MessageName,
> {
  readonly kind: 'stream'
  readonly request: Request
  readonly answer: Answer
  /** `requests` ends when the peer sends no more; the call ends with the handler. */
  readonly handle: (
    requests: AsyncIterable<Message<Request>>,
    answers: AnswerStream<Answer>,
  ) => Promise<void>
}

/** A method whose names of messages are forgotten: the server only passes what the codec made for them. */
export type GrpcMethod = ErasedUnary | ErasedStream
export interface ErasedUnary {
  readonly kind: 'unary'
  readonly request: MessageName
  readonly answer: MessageName
  readonly handle: (request: never, context: CallContext) => object | Promise<object>
}
export interface ErasedStream {
  readonly kind: 'stream'
  readonly request: MessageName
  readonly answer: MessageName
  readonly handle: (requests: AsyncIterable<never>, answers: AnswerStream<never>) => Promise<void>
}

/** Methods by service and name: `etcdserverpb.KV` and `Range`. */
export type GrpcServices = Readonly<Record<string, Readonly<Record<string, GrpcMethod>>>>

export function unary<Request extends MessageName, Answer extends MessageName>(
  request: Request,
  answer: Answer,
  handle: UnaryMethod<Request, Answer>['handle'],
): GrpcMethod {
  return { kind: 'unary', request, answer, handle }
}

export function stream<Request extends MessageName, Answer extends MessageName>(
  request: Request,
  answer: Answer,
  handle: StreamMethod<Request, Answer>['handle'],
): GrpcMethod {
  return { kind: 'stream', request, answer, handle }
}
