import { StatusError } from '@skerry/api'
import {
  readFormerCertificate,
  readNextRequest,
  signCertificate,
  spkiHash,
  type Authority,
  type FormerKeyRules,
} from '@skerry/pki'
import { periodFrom, type IssuerTime } from './certificate-lifetimes.ts'
import { certificateLifetimes } from './limits-table.ts'
import { nodeReturnText, nodeSubject, type NodeReturn } from './node-return.ts'

export interface NodeReturnRules {
  readonly authority: Authority
  /** The time after its end in which a certificate still brings its node back, in milliseconds; 0 for never. */
  readonly graceMs: number
  readonly time: IssuerTime
  /** Returns the key that the Node object names, as `spkiHash` does. Undefined if the object is missing or names no key. */
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
  const subject = nodeSubject(nodeName)
  const former: FormerKeyRules = {
    authorityPem: rules.authority.certificatePem,
    subject,
    text: nodeReturnText(nodeName, asked.request),
    issuer: 'this site',
    holder: 'this node',
    refused: (why, cause) => refused(nodeName, why, cause),
  }
  mustBePresent(
    nodeName,
    { pem: asked.certificate, ...readFormerCertificate(asked, former) },
    rules,
  )
  const { publicKeyPem } = await readNextRequest(asked, former)
  return signCertificate(rules.authority, {
    subject,
    publicKeyPem,
    ...periodFrom(rules.time, certificateLifetimes.leafMs),
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
}

function mustBePresent(
  nodeName: string,
  { pem, notAfterMs }: { readonly pem: string; readonly notAfterMs: number },
  { graceMs, time, keyOf }: NodeReturnRules,
): void {
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

function refused(nodeName: string, why: string, cause?: unknown): StatusError {
  return new StatusError(
    'Forbidden',
    `Cannot take back node "${nodeName}": ${why}`,
    cause === undefined ? {} : { cause },
  )
}
