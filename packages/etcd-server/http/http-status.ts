import type { GrpcCode } from '../grpc/grpc-error.ts'

/** The status of HTTP that etcd's gateway gives to a code of gRPC (google/rpc/code.proto). */
export const httpStatuses: Readonly<Record<GrpcCode, number>> = Object.freeze({
  ok: 200,
  canceled: 499,
  unknown: 500,
  invalidArgument: 400,
  deadlineExceeded: 504,
  notFound: 404,
  permissionDenied: 403,
  resourceExhausted: 429,
  failedPrecondition: 400,
  outOfRange: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  dataLoss: 500,
  unauthenticated: 401,
})
