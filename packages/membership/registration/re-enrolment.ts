import { StatusError } from '@skerry/api'
import {
  isIssuedBy,
  isSignedBy,
  readCertificate,
  readSigningRequest,
  signCertificate,
  type Authority,
  type SigningRequest,
} from '@skerry/pki'
import { agentUserName, agentsGroup } from '@skerry/fleet-kinds'
import { reEnrolmentText, type ReEnrolment } from './re-enrolment-request.ts'

export interface ReEnrolmentRules {
  readonly authority: Authority
  /**
   * The time after its expiry during which a certificate still proves its holder's identity, in milliseconds;
   * 0 disables this.
   */
  readonly graceMs: number
  /** The lifetime of the issued certificate, in milliseconds. */
  readonly lifetimeMs: number
  /** The time reckoned from the hub's earlier records: the certificate must be valid by it and by the clock. */
  readonly reckonedMs: number
  /** The time by which certificates are backdated, in milliseconds, for clocks that are behind. */
  readonly backdateMs: number
  readonly isRevoked: (
    cluster: string,
    certificate: { notBeforeMs: number; serialNumber: string },
  ) => boolean
  /** Reports whether this cluster's agent was last revoked by a version that used the clock alone. */
  readonly wasRevokedByTime: (cluster: string) => boolean
  /** The start of the next serial number; see CertificateProfile. */
  readonly serialPrefix: string | undefined
}

/**
 * Resolves with the next certificate of this cluster's agent. Throws StatusError Forbidden when the
 * certificate is not this hub's, not that agent's, revoked, or expired for longer than the grace.
 */
export async function answerReEnrolment(
  cluster: string,
  asked: ReEnrolment,
  rules: ReEnrolmentRules,
  nowMs: number,
): Promise<string> {
  checkIdentity(cluster, asked, rules, nowMs)
  const { publicKeyPem } = await readOwnRequest(cluster, asked.request)
  return signCertificate(rules.authority, {
    subject: { commonName: agentUserName(cluster), organizations: [agentsGroup] },
    publicKeyPem,
    serialPrefix: rules.serialPrefix,
    notBeforeMs: Math.min(nowMs, rules.reckonedMs) - rules.backdateMs,
    notAfterMs: Math.max(nowMs, rules.reckonedMs) + rules.lifetimeMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
}

function checkIdentity(
  cluster: string,
  { certificate: pem, request, signature }: ReEnrolment,
  { authority, graceMs, isRevoked, wasRevokedByTime }: ReEnrolmentRules,
  nowMs: number,
): void {
  const isOwn = orRefused(cluster, () => isIssuedBy(pem, authority.certificatePem))
  if (!isOwn) throw refused(cluster, 'this hub did not issue the certificate')
  const certificate = readCertificate(pem)
  const { commonName, organizations, extendedUsages, notBeforeMs, notAfterMs } = certificate
  const isAgents =
    commonName === agentUserName(cluster) &&
    organizations.join() === agentsGroup &&
    extendedUsages.includes('clientAuth')
  if (!isAgents) throw refused(cluster, 'the certificate does not belong to its agent')
  const isProven = orRefused(cluster, () =>
    isSignedBy(reEnrolmentText(cluster, request), signature, pem),
  )
  if (!isProven) throw refused(cluster, "the signature is not by the certificate's key")
  if (isRevoked(cluster, certificate)) throw refused(cluster, 'the agent was revoked')
  // The certificate was issued while this hub's clock was fast, so its order to a revocation is unknown.
  if (nowMs < notBeforeMs && wasRevokedByTime(cluster)) {
    throw refused(cluster, 'the certificate is not valid yet, and the agent was revoked once')
  }
  if (nowMs <= notAfterMs + graceMs) return
  const ended = new Date(notAfterMs).toISOString()
  throw refused(
    cluster,
    `the certificate expired at ${ended}, and this hub takes such for ${graceMs / 3_600_000} h more; register again with "skerry cluster join-command ${cluster}"`,
  )
}

async function readOwnRequest(cluster: string, pem: string): Promise<SigningRequest> {
  let request: SigningRequest
  try {
    request = await readSigningRequest(pem)
  } catch (cause) {
    throw refused(cluster, 'the signing request cannot be read', cause)
  }
  const { commonName, organizations, dnsNames, ipAddresses, emails, uris } = request
  const others = [dnsNames, ipAddresses, emails, uris].flat()
  const isOwn = commonName === agentUserName(cluster) && organizations.join() === agentsGroup
  if (!isOwn || others.length > 0) throw refused(cluster, 'the request is for another name')
  return request
}

/** Refuses bytes that the crypto library cannot read, like invalid ones. */
function orRefused(cluster: string, check: () => boolean): boolean {
  try {
    return check()
  } catch (cause) {
    throw refused(cluster, 'certificate or signature cannot be read', cause)
  }
}

function refused(cluster: string, why: string, cause?: unknown): StatusError {
  return new StatusError(
    'Forbidden',
    `Cannot re-enrol the agent of cluster "${cluster}": ${why}`,
    cause === undefined ? {} : { cause },
  )
}
