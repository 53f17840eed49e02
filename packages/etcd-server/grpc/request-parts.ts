import type { Caller } from './grpc-call.ts'
import { GrpcError } from './grpc-error.ts'
import type { MessageSplitter } from './message-splitter.ts'
import type { ServerCall } from './server-call.ts'

/** The parts of a call that its request uses. */
export interface Calling {
  readonly call: ServerCall
  readonly caller: Caller
  readonly splitter: MessageSplitter
}

/** Fails the call if the work throws. */
export function guarded(call: ServerCall, work: () => void): void {
  try {
    work()
  } catch (error) {
    call.fail(error)
  }
}

export function incomplete(): GrpcError {
  return new GrpcError('internal', 'the request ended before its message did')
}
