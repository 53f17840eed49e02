/**
 * The request of an agent whose certificate expired while it was offline. It is separate from
 * re-enrolment.ts, which answers it, because an agent would otherwise keep the X.509 library in memory (9
 * MB).
 */
import { signText } from '@skerry/pki'

/** The request of an agent whose certificate expired while it was offline. */
export interface ReEnrolment {
  /** Its present certificate, PEM. */
  readonly certificate: string
  /** The PKCS #10 request for its next key, PEM. */
  readonly request: string
  /** The signature of `reEnrolmentText` with the key of `certificate`. */
  readonly signature: string
}

/** The path of requests is this, the cluster's name and `reEnrolmentSuffix`. */
export const reEnrolmentPrefix = '/agents/v1/clusters/'
export const reEnrolmentSuffix = '/re-enrolment'

export function reEnrolmentPath(cluster: string): string {
  return `${reEnrolmentPrefix}${cluster}${reEnrolmentSuffix}`
}

export interface FormerIdentity {
  readonly certificatePem: string
  readonly privateKeyPem: string
}

export function createReEnrolment(
  cluster: string,
  { certificatePem, privateKeyPem }: FormerIdentity,
  request: string,
): ReEnrolment {
  const signature = signText(reEnrolmentText(cluster, request), privateKeyPem)
  return { certificate: certificatePem, request, signature }
}

/** The signed text. Replaying it gains nothing: the answer is for the key in the request. */
export function reEnrolmentText(cluster: string, request: string): string {
  return `skerry re-enrolment v1\n${cluster}\n${request}`
}
