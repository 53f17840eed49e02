import type { Client, Metadata, ServiceError } from '@grpc/grpc-js'
import { abortReason } from '../abort.ts'
import type { Clock } from '../clock.ts'
import { grpcDeadline } from '../real-timers.ts'

export interface UnaryMethod<Request, Answer> {
  readonly path: string
  readonly requestSerialize: (request: Request) => Buffer
  readonly responseDeserialize: (bytes: Buffer) => Answer
}

export interface UnaryCall<Request, Answer> {
  readonly method: UnaryMethod<Request, Answer>
  readonly request: Request
  readonly metadata: Metadata
  /** With 0, only the signal ends the call. */
  readonly timeoutMs: number
  /** Measures the timeout. If omitted, the library does, and the server learns the deadline, too. */
  readonly clock?: Pick<Clock, 'setTimer'>
  /** Puts gRPC's error into the caller's words. */
  readonly toError?: (error: ServiceError) => Error
}

/**
 * Makes one call with one answer. Rejects with the signal's reason, or with gRPC's error: after the timeout
 * that is DEADLINE_EXCEEDED. The package of gRPC is imported by its users alone.
 */
export function unaryCall<Request, Answer>(
  client: Client,
  { method, request, metadata, timeoutMs, clock, toError }: UnaryCall<Request, Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortReason(signal))
    const isTimed = timeoutMs > 0
    const call = client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      metadata,
      isTimed && clock === undefined ? { deadline: grpcDeadline(timeoutMs) } : {},
      (error, answer) => {
        timer?.[Symbol.dispose]()
        signal.removeEventListener('abort', onAbort)
        if (answer !== undefined) return resolve(answer)
        if (signal.aborted) return reject(abortReason(signal))
        if (error) return reject(toError?.(error) ?? error)
        reject(new TypeError(`Cannot call ${method.path}: the answer is empty`))
      },
    )
    const late = (): void =>
      call.call?.cancelWithStatus(deadlineExceeded, `no answer in ${timeoutMs} ms`)
    const timer = isTimed ? clock?.setTimer(timeoutMs, late) : undefined
    const onAbort = (): void => call.cancel()
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** DEADLINE_EXCEEDED among gRPC's status codes. */
const deadlineExceeded = 4
