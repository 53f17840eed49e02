import { StatusError } from '@skerry/api'
import {
  readFormerCertificate,
  readNextRequest,
  signCertificate,
  type Authority,
  type Certificate,
  type FormerKeyRules,
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
  const subject = { commonName: agentUserName(cluster), organizations: [agentsGroup] }
  const former: FormerKeyRules = {
    authorityPem: rules.authority.certificatePem,
    subject,
    text: reEnrolmentText(cluster, asked.request),
    issuer: 'this hub',
    holder: 'its agent',
    refused: (why, cause) => refused(cluster, why, cause),
  }
  mustBeWelcome(cluster, readFormerCertificate(asked, former), rules, nowMs)
  const { publicKeyPem } = await readNextRequest(asked, former)
  return signCertificate(rules.authority, {
    subject,
    publicKeyPem,
    serialPrefix: rules.serialPrefix,
    notBeforeMs: Math.min(nowMs, rules.reckonedMs) - rules.backdateMs,
    notAfterMs: Math.max(nowMs, rules.reckonedMs) + rules.lifetimeMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
}

function mustBeWelcome(
  cluster: string,
  certificate: Certificate,
  { graceMs, isRevoked, wasRevokedByTime }: ReEnrolmentRules,
  nowMs: number,
): void {
  const { notBeforeMs, notAfterMs } = certificate
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

function refused(cluster: string, why: string, cause?: unknown): StatusError {
  return new StatusError(
    'Forbidden',
    `Cannot re-enrol the agent of cluster "${cluster}": ${why}`,
    cause === undefined ? {} : { cause },
  )
}
