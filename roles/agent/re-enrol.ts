import { isStatusError } from '@skerry/api'
import type { Connect } from '@skerry/base'
import type { CertificateAndKey } from '@skerry/bootstrap'
import { createHttpsTransport, readBody, statusErrorOf } from '@skerry/client'
import { agentUserName, agentsGroup } from '@skerry/fleet-kinds'
import { createReEnrolment, reEnrolmentPath } from '@skerry/membership'
import { createSigningRequest, generateKeyPair } from '@skerry/pki'
import type { RoleContext } from '../runtime/role-context.ts'

export interface ReEnrolOptions {
  /** The hub's URL, https://host:port. */
  server: string
  certificateAuthority: string
  /** Connects to the hub. If omitted, over TCP. */
  connect?: Connect
  clusterName: string
  /** The expired one. */
  current: CertificateAndKey
  /** Whether there is a token to register with if the hub no longer accepts the old key. */
  hasToken: boolean
}

/**
 * Obtains the next certificate of an agent that was offline until its own expired, for a new key and proven
 * by the old one. Resolves undefined if the hub no longer accepts that and there is a token; without one
 * throws the hub's StatusError Forbidden.
 */
export async function reEnrol(
  { clusterName, current, hasToken, ...config }: ReEnrolOptions,
  { log, clock }: RoleContext,
  signal: AbortSignal,
): Promise<CertificateAndKey | undefined> {
  using transport = createHttpsTransport(config, { clock })
  const { privateKeyPem } = await generateKeyPair()
  const subject = { commonName: agentUserName(clusterName), organizations: [agentsGroup] }
  const pem = createSigningRequest({ subject, privateKeyPem })
  const body = JSON.stringify(createReEnrolment(clusterName, current, pem))
  const request = {
    method: 'POST',
    path: reEnrolmentPath(clusterName),
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(body),
  } as const
  const answer = await transport.send(request, signal)
  const text = (await readBody(answer.body)).toString('utf8')
  if (answer.status !== 201) {
    const error = statusErrorOf(answer, text)
    if (!isStatusError(error, 'Forbidden') || !hasToken) throw error
    log.info('Expired certificate is no longer accepted', { error })
    return undefined
  }
  const value: unknown = JSON.parse(text)
  const hasCertificate = typeof value === 'object' && value !== null && 'certificate' in value
  if (!hasCertificate || typeof value.certificate !== 'string') {
    throw new Error('Cannot re-enrol: the hub answered without a certificate')
  }
  log.info('Re-enrolled with the hub', { cluster: clusterName })
  return { certificatePem: value.certificate, privateKeyPem }
}
