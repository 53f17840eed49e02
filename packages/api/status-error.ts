import { isJsonObject } from './json.ts'
import type { ListMeta } from './object.ts'
import { retryAfterSecondsMax } from './limits-table.ts'

/** metav1.StatusReason: the closed set of reasons, in Kubernetes' words. */
export type StatusReason =
  | 'Unknown'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'StoreReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable'

/** metav1.StatusCause. */
export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** metav1.Status, the body of every error answer. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: ListMeta
  status: 'Success' | 'Failure'
  message?: string
  reason?: StatusReason
  details?: StatusDetails
  code?: number
}

export const codeOfReason: Readonly<Record<StatusReason, number>> = Object.freeze({
  Unknown: 500,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Invalid: 422,
  ServerTimeout: 504,
  StoreReadError: 500,
  Timeout: 504,
  TooManyRequests: 429,
  BadRequest: 400,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  InternalError: 500,
  Expired: 410,
  ServiceUnavailable: 503,
})

/**
 * Returns true for an HTTP status that an error may have. A Status from another server may contain
 * any number.
 */
export function isErrorCode(code: unknown): code is number {
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599
}

/** Reads the details of a Status from another server and drops fields of the wrong type. */
export function statusDetailsOf(value: unknown): { readonly details?: StatusDetails } {
  if (!isJsonObject(value)) return {}
  const { retryAfterSeconds: seconds, causes } = value
  const isCount = typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0
  return {
    details: {
      ...textsOf(value, ['name', 'group', 'kind', 'uid']),
      ...(Array.isArray(causes)
        ? { causes: causes.filter(isJsonObject).map((each) => textsOf(each, causeFields)) }
        : {}),
      ...(isCount ? { retryAfterSeconds: Math.min(seconds, retryAfterSecondsMax) } : {}),
    },
  }
}

const causeFields = ['reason', 'message', 'field'] as const

function textsOf<Name extends string>(
  from: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const out: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const text = from[name]
    if (typeof text === 'string') out[name] = text
  }
  return out
}

export interface StatusErrorOptions extends ErrorOptions {
  details?: StatusDetails
  /** Overrides the code that belongs to the reason. */
  code?: number
  /** Where an inconsistent list may continue. */
  continueToken?: string
  /** Headers in addition to those of every error answer. */
  headers?: Readonly<Record<string, string>>
}

/**
 * The one error that crosses API edges: the server's code throws it, and the client rebuilds it
 * from the body.
 */
export class StatusError extends Error {
  override name = 'StatusError'
  readonly reason: StatusReason
  readonly code: number
  readonly details: StatusDetails | undefined
  readonly continueToken: string | undefined
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(reason: StatusReason, message: string, options: StatusErrorOptions = {}) {
    super(message, options)
    this.reason = reason
    this.code = options.code ?? codeOfReason[reason]
    this.details = options.details
    this.continueToken = options.continueToken
    this.headers = options.headers
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    }
  }
}

/** Returns true for a StatusError with that reason. Never compare a message instead. */
export function isStatusError(error: unknown, reason: StatusReason): error is StatusError {
  return error instanceof StatusError && error.reason === reason
}
