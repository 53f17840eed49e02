import {
  createHttpsTransport,
  type HttpsTransportConfig,
  type HttpsTransportDeps,
} from './https-transport.ts'
import { clientBounds } from './limits-table.ts'
import { readBody } from './response-body.ts'

const { answerMs, bodyBytesMax, causesMax } = clientBounds.serverTime

/** Node's codes for a certificate that begins later, or ended earlier, than this machine's clock shows. */
const codes: ReadonlySet<unknown> = new Set(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED'])

/**
 * Returns true if an error, or a cause of it, is that of a certificate whose dates do not fit this machine's clock: it or
 * that of the issuer may be wrong.
 */
export function failsByDates(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > causesMax) return false
  return ('code' in error && codes.has(error.code)) || failsByDates(error.cause, depth + 1)
}

/**
 * Asks a server for its time, by the Date header (RFC 9110, 6.6.1) of any answer. The certificate is not verified, because
 * the clock may be what makes it fail: the request has no credentials, and the answer may only explain. Resolves with
 * milliseconds since the Unix epoch, or with undefined if the answer has no date. Rejects if the server does not answer.
 */
export async function readServerTime(
  { server, connect }: Pick<HttpsTransportConfig, 'server' | 'connect'>,
  deps: HttpsTransportDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const config = {
    server,
    isTlsVerifySkipped: true,
    answerHeadTimeoutMs: answerMs,
    ...(connect ? { connect } : {}),
  }
  using transport = createHttpsTransport(config, deps)
  const asked = { method: 'GET', path: '/livez', headers: {} } as const
  const { headers, body } = await transport.send(asked, signal)
  await readBody(body, bodyBytesMax)
  const { date } = headers
  const timeMs = Date.parse(typeof date === 'string' ? date : '')
  return Number.isNaN(timeMs) ? undefined : timeMs
}
