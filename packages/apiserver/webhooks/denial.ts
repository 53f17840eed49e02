import {
  isErrorCode,
  StatusError,
  statusDetailsOf,
  type JsonObject,
  type StatusReason,
} from '@skerry/api'

/** What the client is told when a webhook says no: the webhook's own Status, named after it. */
export function webhookDenial(webhook: string, status: JsonObject = {}): StatusError {
  const { message, reason, code, details } = status
  const why = [message, reason]
    .filter((text) => typeof text === 'string')
    .find((text) => text !== '')
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`
  return new StatusError(
    // A webhook may say any word; clients compare it with those that they know.
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
