import { isStatusError } from '@skerry/api'
import { readBody, statusErrorOf, type HttpsTransport } from '@skerry/client'
import { createSigningRequest, generateKeyPair } from '@skerry/pki'
import type { CertificateAndKey } from './issue-certificate.ts'
import { bootstrapBounds } from './limits-table.ts'
import { createNodeReturn, nodeReturnPath, nodeSubject } from './node-return.ts'
import type { RequestDeps } from './request-certificate.ts'

const { answerBytesMax } = bootstrapBounds.returnByKey

export interface ReturnOptions {
  readonly nodeName: string
  /** The certificate that is out of its dates. */
  readonly current: CertificateAndKey
  /** True if there is a token to join with if the site does not take the key. */
  readonly hasToken: boolean
}

/**
 * Obtains the next certificate of a node that was away until its own ended. Resolves to undefined if the site does not take
 * the former key and there is a token; otherwise throws the site's StatusError.
 */
export async function returnByKey(
  opened: HttpsTransport,
  { nodeName, current, hasToken }: ReturnOptions,
  { log }: RequestDeps,
  signal: AbortSignal,
): Promise<CertificateAndKey | undefined> {
  using transport = opened
  const { privateKeyPem } = await generateKeyPair()
  const pem = createSigningRequest({ subject: nodeSubject(nodeName), privateKeyPem })
  const body = Buffer.from(JSON.stringify(createNodeReturn(nodeName, current, pem)))
  const headers = { 'content-type': 'application/json' }
  const request = { method: 'POST', path: nodeReturnPath(nodeName), headers, body } as const
  const answer = await transport.send(request, signal)
  const text = (await readBody(answer.body, answerBytesMax)).toString('utf8')
  if (answer.status !== 201) {
    const error = statusErrorOf(answer, text)
    // Other control planes do not have the path.
    const isRefused = isStatusError(error, 'Forbidden') || isStatusError(error, 'NotFound')
    if (!isRefused || !hasToken) throw error
    log.info('Former certificate is not taken, joining with the token', { error })
    return undefined
  }
  const value: unknown = JSON.parse(text)
  const hasCertificate = typeof value === 'object' && value !== null && 'certificate' in value
  if (!hasCertificate || typeof value.certificate !== 'string') {
    throw new Error('Cannot come back by the key: the site answered without a certificate')
  }
  log.info('Node came back by its key', { node: nodeName })
  return { certificatePem: value.certificate, privateKeyPem }
}
