/**
 * What an agent asks with whose certificate expired while it was away. Apart from re-enrolment.ts, which
 * answers it: an agent would hold the X.509 library in memory for that (9 MB).
 */
import { signText } from '@skerry/pki'

/** What an agent sends whose certificate expired while it was away. */
export interface ReEnrolment {
  /** The certificate that it has, PEM. */
  readonly certificate: string
  /** PKCS #10 for its next key, PEM. */
  readonly request: string
  /** By the key of `certificate`, over `reEnrolmentText`. */
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

/** Whoever repeats it gains nothing: the answer is for the key in the request. */
export function reEnrolmentText(cluster: string, request: string): string {
  return `skerry re-enrolment v1\n${cluster}\n${request}`
}
