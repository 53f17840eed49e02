import {
  createHttpsTransport,
  type HttpsTransportConfig,
  type HttpsTransportDeps,
} from './https-transport.ts'
import { readBody } from './response-body.ts'

/**
 * Asks the server on a new connection, and resolves with the end of the certificate that it shows now, in milliseconds
 * since the Unix epoch. Resolves undefined if no certificate was checked: over plain HTTP, with checks skipped, or on
 * connections that the caller opens. Rejects if the server does not answer, or its certificate is not trusted.
 */
export async function serverCertificateEnd(
  config: HttpsTransportConfig,
  deps: HttpsTransportDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  let endMs: number | undefined
  // Without a connection or a TLS session from before, the server has to show its certificate.
  using transport = createHttpsTransport(
    { ...config, onServerCertificate: ({ valid_to: end }) => (endMs = Date.parse(end)) },
    deps,
  )
  const answer = await transport.send({ method: 'GET', path: '/readyz', headers: {} }, signal)
  await readBody(answer.body)
  return endMs === undefined || Number.isNaN(endMs) ? undefined : endMs
}
