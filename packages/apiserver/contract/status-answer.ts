import { StatusError, type Status } from '@skerry/api'
import { PeerAnswerError, messageOf } from '@skerry/base'
import type { ApiAnswer } from './exchange.ts'

const utf8 = new TextEncoder()

/** metav1.Status with the headers that go with it. */
export function statusAnswer(error: StatusError): ApiAnswer {
  const answer = answerOf(statusOf(error), error.details?.retryAfterSeconds)
  return error.headers ? { ...answer, headers: { ...answer.headers, ...error.headers } } : answer
}

/** Kubernetes omits the reason of errors that it has no word for. */
export function statusOf(error: StatusError): Status {
  const status = error.toStatus()
  if (status.reason === 'Unknown') delete status.reason
  return status
}

function answerOf(status: Status, retryAfterSeconds?: number): ApiAnswer {
  return {
    status: status.code ?? 200,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds !== undefined && retryAfterSeconds > 0
        ? { 'retry-after': String(retryAfterSeconds) }
        : {}),
    },
    body: utf8.encode(`${JSON.stringify(status)}\n`),
  }
}

/** Converts any error to one that a client may see; details of other errors stay in the log. */
export function toStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  // The peer behind this server has sent an invalid answer (RFC 9110, section 15.6.3), for which
  // Kubernetes has no reason.
  if (error instanceof PeerAnswerError) {
    return new StatusError('Unknown', error.message, { code: 502, cause: error })
  }
  const message = messageOf(error)
  return new StatusError('InternalError', `Internal error occurred: ${message}`, {
    cause: error,
    details: { causes: [{ message }] },
  })
}

export function notFoundPath(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource', {
    details: {},
  })
}

export function methodNotAllowed(): StatusError {
  return new StatusError(
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    { details: {} },
  )
}

export function tooManyRequests(): StatusError {
  return new StatusError('TooManyRequests', 'too many requests, please try again later', {
    details: { retryAfterSeconds: 1 },
  })
}

export function requestTimeout(): StatusError {
  return new StatusError(
    'Timeout',
    'Timeout: request did not complete within the allotted timeout',
    {
      details: {},
    },
  )
}
