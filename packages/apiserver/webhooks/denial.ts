import {
  isJsonObject,
  StatusError,
  type JsonObject,
  type StatusDetails,
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
      code: typeof code === 'number' && code >= 400 ? code : 400,
      // Of the Status' own shape, or ignored by whoever reads it.
      ...(isJsonObject(details) ? { details: details as StatusDetails } : {}),
    },
  )
}

export function dryRunUnsupported(webhook: string): StatusError {
  const message = `admission webhook ${JSON.stringify(webhook)} does not support dry run`
  return new StatusError('BadRequest', message)
}
