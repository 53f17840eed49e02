import { asError, MalformedProtobufError, type Logger } from '@skerry/base'
import { GrpcError } from './grpc-error.ts'

/** Puts errors of handlers into statuses. `known` does so for those of the services; others are logged. */
export function grpcErrorsOf(
  known: (error: unknown) => GrpcError | undefined,
  log: Pick<Logger, 'error'>,
): (error: unknown) => GrpcError {
  return (error) => {
    if (error instanceof GrpcError) return error
    if (error instanceof MalformedProtobufError) {
      return new GrpcError('internal', `grpc: error unmarshalling request: ${error.why}`)
    }
    const found = known(error)
    if (found) return found
    log.error('Call failed', { error: asError(error) })
    return new GrpcError('internal', 'skerry: internal error; the log of the server has the cause')
  }
}
