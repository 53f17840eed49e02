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
  /** For how long after its end a certificate still proves who its holder is; 0: not at all. */
  readonly graceMs: number
  /** Of the certificate that is issued. */
  readonly lifetimeMs: number
  /** What the time should be by what the hub knew before: the certificate is good by it and by the clock. */
  readonly reckonedMs: number
  /** By how much it begins in the past, for clocks that are behind. */
  readonly backdateMs: number
  readonly isRevoked: (
    cluster: string,
    certificate: { notBeforeMs: number; serialNumber: string },
  ) => boolean
  /** Whether this cluster's agent was revoked last by a version that went by the clock alone. */
  readonly wasRevokedByTime: (cluster: string) => boolean
  /** How the serial number of the next one begins; see CertificateProfile. */
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
  if (!isOwn) throw refused(cluster, 'the certificate is not of this hub')
  const certificate = readCertificate(pem)
  const { commonName, organizations, extendedUsages, notBeforeMs, notAfterMs } = certificate
  const isAgents =
    commonName === agentUserName(cluster) &&
    organizations.join() === agentsGroup &&
    extendedUsages.includes('clientAuth')
  if (!isAgents) throw refused(cluster, 'the certificate is not of its agent')
  const isProven = orRefused(cluster, () =>
    isSignedBy(reEnrolmentText(cluster, request), signature, pem),
  )
  if (!isProven) throw refused(cluster, "the signature is not by the certificate's key")
  if (isRevoked(cluster, certificate)) throw refused(cluster, 'the agent was revoked')
  // It was issued while this hub's clock was ahead; whether before or after a revocation, nobody knows.
  if (nowMs < notBeforeMs && wasRevokedByTime(cluster)) {
    throw refused(cluster, 'the certificate is not valid yet, and the agent was revoked once')
  }
  if (nowMs <= notAfterMs + graceMs) return
  const ended = new Date(notAfterMs).toISOString()
  throw refused(
    cluster,
    `the certificate expired at ${ended}, and this hub takes such for ${graceMs / 3_600_000} h more; register anew with "skerry cluster join-command ${cluster}"`,
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

/** Bytes from outside: what the crypto library cannot read is refused like what is wrong. */
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
