import { StatusError } from '@skerry/api'
import {
  isIssuedBy,
  isSignedBy,
  readCertificate,
  readSigningRequest,
  signCertificate,
  spkiHash,
  type Authority,
  type SigningRequest,
} from '@skerry/pki'
import { periodFrom, type IssuerTime } from './certificate-lifetimes.ts'
import { certificateLifetimes } from './limits-table.ts'
import { nodeReturnText, nodeSubject, type NodeReturn } from './node-return.ts'

export interface NodeReturnRules {
  readonly authority: Authority
  /** The time after its end in which a certificate still brings its node back, in milliseconds; 0 for never. */
  readonly graceMs: number
  readonly time: IssuerTime
  /** Returns the key that the Node object names, as `spkiHash` does. Undefined if there is no such object, or it names none. */
  readonly keyOf: (nodeName: string) => string | undefined
}

/**
 * Resolves with the next certificate of this node. Throws StatusError Forbidden if the certificate is not this site's, not
 * that node's, not its newest, or has ended for longer than the grace, and if the node was removed.
 */
export async function answerNodeReturn(
  nodeName: string,
  asked: NodeReturn,
  rules: NodeReturnRules,
): Promise<string> {
  checkIdentity(nodeName, asked, rules)
  const { publicKeyPem } = await readOwnRequest(nodeName, asked.request)
  return signCertificate(rules.authority, {
    subject: nodeSubject(nodeName),
    publicKeyPem,
    ...periodFrom(rules.time, certificateLifetimes.leafMs),
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
}

function checkIdentity(
  nodeName: string,
  { certificate: pem, request, signature }: NodeReturn,
  { authority, graceMs, time, keyOf }: NodeReturnRules,
): void {
  const isOwn = orRefused(nodeName, () => isIssuedBy(pem, authority.certificatePem))
  if (!isOwn) throw refused(nodeName, 'this site did not issue the certificate')
  const { commonName, organizations, extendedUsages, notAfterMs } = readCertificate(pem)
  const own = nodeSubject(nodeName)
  const isNodes =
    commonName === own.commonName &&
    organizations.join() === own.organizations.join() &&
    extendedUsages.includes('clientAuth')
  if (!isNodes) throw refused(nodeName, 'the certificate does not belong to this node')
  const isProven = orRefused(nodeName, () =>
    isSignedBy(nodeReturnText(nodeName, request), signature, pem),
  )
  if (!isProven) throw refused(nodeName, "the signature is not by the certificate's key")
  if (keyOf(nodeName) !== spkiHash(pem)) {
    throw refused(nodeName, `the site has no Node that names this key; ${remedy}`)
  }
  // A clock that is ahead must not lock out the nodes whose certificates end by it.
  const nowMs = Math.min(time.now(), time.reckonedMs?.() ?? Infinity)
  if (nowMs <= notAfterMs + graceMs) return
  const ended = new Date(notAfterMs).toISOString()
  const grace = `this site takes such for ${graceMs / 3_600_000} h more`
  throw refused(nodeName, `the certificate ended at ${ended}, and ${grace}; ${remedy}`)
}

const remedy = 'join again by the line of "skerry token create --print-join-command"'

async function readOwnRequest(nodeName: string, pem: string): Promise<SigningRequest> {
  let request: SigningRequest
  try {
    request = await readSigningRequest(pem)
  } catch (cause) {
    throw refused(nodeName, 'the signing request cannot be read', cause)
  }
  const { commonName, organizations, dnsNames, ipAddresses, emails, uris } = request
  const own = nodeSubject(nodeName)
  const others = [dnsNames, ipAddresses, emails, uris].flat()
  const isOwn = commonName === own.commonName && organizations.join() === own.organizations.join()
  if (!isOwn || others.length > 0) throw refused(nodeName, 'the request is for another name')
  return request
}

/** Refuses bytes that the crypto library cannot read, like invalid ones. */
function orRefused(nodeName: string, check: () => boolean): boolean {
  try {
    return check()
  } catch (cause) {
    throw refused(nodeName, 'certificate or signature cannot be read', cause)
  }
}

function refused(nodeName: string, why: string, cause?: unknown): StatusError {
  return new StatusError(
    'Forbidden',
    `Cannot take back node "${nodeName}": ${why}`,
    cause === undefined ? {} : { cause },
  )
}
