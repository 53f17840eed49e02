import { isIssuedBy } from './certificate-checks.ts'
import { readCertificate, type Certificate } from './certificate.ts'
import { isSignedBy } from './key-signature.ts'
import { readSigningRequest, type SigningRequest } from './signing-request.ts'

/** A holder's request for its next certificate, proven by the key of the former one. All is PEM or text of a stranger. */
interface FormerKeyRequest {
  readonly certificate: string
  readonly request: string
  readonly signature: string
}

export interface FormerKeyRules {
  readonly authorityPem: string
  /** The subject of the former certificate and of the request. */
  readonly subject: { readonly commonName: string; readonly organizations: readonly string[] }
  /** The text that the former key has signed. */
  readonly text: string
  /** The words for the issuer and the holder in reasons, e.g. `this site` and `this node`. */
  readonly issuer: string
  readonly holder: string
  /** Returns the error for a reason. */
  readonly refused: (why: string, cause?: unknown) => Error
}

/**
 * Returns the former certificate if this authority issued it to this subject, and its key signed the text; its
 * dates are the caller's to judge. Throws what `refused` returns.
 */
export function readFormerCertificate(
  { certificate: pem, signature }: FormerKeyRequest,
  { authorityPem, subject, text, issuer, holder, refused }: FormerKeyRules,
): Certificate {
  /** Refuses bytes that the crypto library cannot read, like invalid ones. */
  const check = (holds: () => boolean): boolean => {
    try {
      return holds()
    } catch (cause) {
      throw refused('certificate or signature cannot be read', cause)
    }
  }
  if (!check(() => isIssuedBy(pem, authorityPem))) {
    throw refused(`${issuer} did not issue the certificate`)
  }
  const certificate = readCertificate(pem)
  if (!isOf(certificate, subject) || !certificate.extendedUsages.includes('clientAuth')) {
    throw refused(`the certificate does not belong to ${holder}`)
  }
  if (!check(() => isSignedBy(text, signature, pem))) {
    throw refused("the signature is not by the certificate's key")
  }
  return certificate
}

/** Resolves with the signing request if it is for this subject and no other name. Rejects with what `refused` returns. */
export async function readNextRequest(
  { request: pem }: FormerKeyRequest,
  { subject, refused }: FormerKeyRules,
): Promise<SigningRequest> {
  let request: SigningRequest
  try {
    request = await readSigningRequest(pem)
  } catch (cause) {
    throw refused('the signing request cannot be read', cause)
  }
  const { dnsNames, ipAddresses, emails, uris } = request
  const others = [dnsNames, ipAddresses, emails, uris].flat()
  if (!isOf(request, subject) || others.length > 0) {
    throw refused('the request is for another name')
  }
  return request
}

function isOf(
  { commonName, organizations }: FormerKeyRules['subject'],
  subject: FormerKeyRules['subject'],
): boolean {
  return commonName === subject.commonName && organizations.join() === subject.organizations.join()
}
