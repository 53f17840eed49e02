import {
  isErrorCode,
  StatusError,
  statusDetailsOf,
  type JsonObject,
  type StatusReason,
} from '@skerry/api'

/** Builds the error for a denial: the webhook's own Status, with the webhook's name. */
export function webhookDenial(webhook: string, status: JsonObject = {}): StatusError {
  const { message, reason, code, details } = status
  const why = [message, reason]
    .filter((text) => typeof text === 'string')
    .find((text) => text !== '')
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`
  return new StatusError(
    // A webhook may use any reason; clients compare it with those that they know.
    typeof reason === 'string' && reason !== '' ? (reason as StatusReason) : 'Unknown',
    why === undefined ? `${denied} without explanation` : `${denied}: ${why}`,
    {
      code: isErrorCode(code) ? code : 400,
      ...statusDetailsOf(details),
    },
  )
}

export function dryRunUnsupported(webhook: string): StatusError {
  const message = `admission webhook ${JSON.stringify(webhook)} does not support dry run`
  return new StatusError('BadRequest', message)
}
