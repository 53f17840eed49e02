import type { StatusError } from '@skerry/api'
import type { TunnelResponse } from '@skerry/tunnel'

/** Returns an answer in a form that clients understand; for failures, with the id to look for in the logs. */
export function statusAnswer(error: StatusError, auditId: string): TunnelResponse {
  const status = error.toStatus()
  const isFailure = error.code >= 500 && auditId !== ''
  const message = isFailure ? `${error.message} (request ${auditId})` : error.message
  const body = Buffer.from(`${JSON.stringify({ ...status, message })}\n`)
  return {
    status: error.code,
    headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
    body: onePiece(body),
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
