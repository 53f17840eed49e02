/**
 * The request of a node whose certificate ended while it was away. It is apart from its answer, because a node would
 * otherwise keep the X.509 library in memory.
 */
import { signText } from '@skerry/pki'
import type { CertificateAndKey } from './issue-certificate.ts'

/** A node's request for its next certificate, proven by the key of the former one. */
export interface NodeReturn {
  /** The former certificate, PEM. */
  readonly certificate: string
  /** The PKCS #10 request for the next key, PEM. */
  readonly request: string
  /** The signature of `nodeReturnText` with the key of `certificate`. */
  readonly signature: string
}

/** The path of requests is this, the node's name and `nodeReturnSuffix`. */
export const nodeReturnPrefix = '/nodes/v1/nodes/'
export const nodeReturnSuffix = '/return'

/** The annotation of a Node that names the key of its newest certificate, as `spkiHash` does. */
export const clientKeyAnnotation = 'skerry.io/client-key'

export function nodeReturnPath(nodeName: string): string {
  return `${nodeReturnPrefix}${nodeName}${nodeReturnSuffix}`
}

export function createNodeReturn(
  nodeName: string,
  { certificatePem, privateKeyPem }: CertificateAndKey,
  request: string,
): NodeReturn {
  const signature = signText(nodeReturnText(nodeName, request), privateKeyPem)
  return { certificate: certificatePem, request, signature }
}

/** Returns the signed text. Replaying it gains nothing: the answer is for the key in the request. */
export function nodeReturnText(nodeName: string, request: string): string {
  return `skerry node return v1\n${nodeName}\n${request}`
}

export function nodeSubject(nodeName: string) {
  return { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] }
}
