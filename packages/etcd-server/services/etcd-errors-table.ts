import { messageOf } from '@skerry/base'
import { StoreBusyError, StoreClosedError, StoreFullError } from '@skerry/store'
import {
  AnswerTooLargeError,
  CompactedRevisionError,
  DamagedValueError,
  FutureRevisionError,
  NoKeyError,
  NoLeaseError,
  NoSpaceError,
  TransactionTooLargeError,
} from '../engine/engine-errors.ts'
import { GrpcError, type GrpcCode } from '../grpc/grpc-error.ts'

/** etcd's own codes and words (api/v3rpc/rpctypes, 3.4 to 3.7); clients match on the words. */
export const etcdErrors = Object.freeze({
  emptyKey: ['invalidArgument', 'etcdserver: key is not provided'],
  keyNotFound: ['invalidArgument', 'etcdserver: key not found'],
  valueProvided: ['invalidArgument', 'etcdserver: value is provided'],
  leaseProvided: ['invalidArgument', 'etcdserver: lease is provided'],
  tooManyOperations: ['invalidArgument', 'etcdserver: too many operations in txn request'],
  duplicateKey: ['invalidArgument', 'etcdserver: duplicate key given in txn request'],
  invalidSortOption: ['invalidArgument', 'etcdserver: invalid sort option'],
  compacted: ['outOfRange', 'etcdserver: mvcc: required revision has been compacted'],
  futureRevision: ['outOfRange', 'etcdserver: mvcc: required revision is a future revision'],
  noSpace: ['resourceExhausted', 'etcdserver: mvcc: database space exceeded'],
  leaseNotFound: ['notFound', 'etcdserver: requested lease not found'],
  leaseExists: ['failedPrecondition', 'etcdserver: lease already exists'],
  leaseTtlTooLarge: ['outOfRange', 'etcdserver: too large lease TTL'],
  requestTooLarge: ['invalidArgument', 'etcdserver: request is too large'],
  tooManyRequests: ['resourceExhausted', 'etcdserver: too many requests'],
  rootUserNotFound: ['failedPrecondition', 'etcdserver: root user does not exist'],
  userNotFound: ['failedPrecondition', 'etcdserver: user name not found'],
  roleNotFound: ['failedPrecondition', 'etcdserver: role name not found'],
  rootRoleNotFound: ['failedPrecondition', 'etcdserver: root user does not have root role'],
  userExists: ['failedPrecondition', 'etcdserver: user name already exists'],
  userEmpty: ['invalidArgument', 'etcdserver: user name is empty'],
  roleExists: ['failedPrecondition', 'etcdserver: role name already exists'],
  roleEmpty: ['invalidArgument', 'etcdserver: role name is empty'],
  authFailed: ['invalidArgument', 'etcdserver: authentication failed, invalid user ID or password'],
  noPasswordUser: [
    'unknown',
    'auth: authentication failed, password was given for no password user',
  ],
  permissionNotGiven: ['invalidArgument', 'etcdserver: permission not given'],
  permissionDenied: ['permissionDenied', 'etcdserver: permission denied'],
  roleNotGranted: ['failedPrecondition', 'etcdserver: role is not granted to the user'],
  permissionNotGranted: ['failedPrecondition', 'etcdserver: permission is not granted to the role'],
  invalidAuthToken: ['unauthenticated', 'etcdserver: invalid auth token'],
  invalidAuthManagement: ['invalidArgument', 'etcdserver: invalid auth management'],
  authNotEnabled: ['failedPrecondition', 'etcdserver: authentication is not enabled'],
  badTransferee: ['failedPrecondition', 'etcdserver: bad leader transferee'],
  memberNotFound: ['notFound', 'etcdserver: member not found'],
  corrupt: ['dataLoss', 'etcdserver: corrupt cluster'],
  stopped: ['unavailable', 'etcdserver: server stopped'],
} as const)

export function etcdError(name: keyof typeof etcdErrors, cause?: unknown): GrpcError {
  const [code, text] = etcdErrors[name]
  return new GrpcError(code, text, cause === undefined ? {} : { cause })
}

/** Reports a part of etcd that this server does not have. */
export function notImplemented(what: string): GrpcError {
  return new GrpcError('unimplemented', `skerry etcd: ${what}`)
}

type ErrorClass = abstract new (...args: never) => Error

const ofEngine: readonly (readonly [ErrorClass, keyof typeof etcdErrors])[] = Object.freeze([
  [CompactedRevisionError, 'compacted'],
  [FutureRevisionError, 'futureRevision'],
  [NoLeaseError, 'leaseNotFound'],
  [NoKeyError, 'keyNotFound'],
  [NoSpaceError, 'noSpace'],
  [StoreFullError, 'noSpace'],
  [StoreBusyError, 'tooManyRequests'],
  [StoreClosedError, 'stopped'],
])

const withOwnText: readonly (readonly [ErrorClass, GrpcCode])[] = Object.freeze([
  [DamagedValueError, 'dataLoss'],
  [AnswerTooLargeError, 'resourceExhausted'],
  [TransactionTooLargeError, 'resourceExhausted'],
])

/** Puts the engine's and the store's errors into etcd's words. Returns undefined for other errors. */
export function toGrpcError(error: unknown): GrpcError | undefined {
  for (const [kind, name] of ofEngine) if (error instanceof kind) return etcdError(name, error)
  for (const [kind, code] of withOwnText) {
    if (error instanceof kind) {
      return new GrpcError(code, `skerry etcd: ${messageOf(error)}`, { cause: error })
    }
  }
  return undefined
}
