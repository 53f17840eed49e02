import { createPublicKey } from 'node:crypto'
import { namesOf, subjectOf, type AlternativeNames } from './certificate.ts'
import { x509 } from './x509-library.ts'

/** What a PKCS#10 request asks for. */
export interface SigningRequest extends AlternativeNames {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** SPKI in PEM: the key that the certificate will be for. */
  readonly publicKeyPem: string
}

/** Throws TypeError when the text is no PKCS#10 request or its signature is not by its own key. */
export async function readSigningRequest(pem: string): Promise<SigningRequest> {
  const request = parse(pem)
  if (!(await request.verify())) {
    throw new TypeError('Cannot read signing request: its signature does not match its key')
  }
  const key = createPublicKey({
    key: Buffer.from(request.publicKey.rawData),
    format: 'der',
    type: 'spki',
  })
  return {
    ...subjectOf(request.subjectName),
    ...namesOf(request.extensions),
    publicKeyPem: key.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

function parse(pem: string): InstanceType<typeof x509.Pkcs10CertificateRequest> {
  if (!pem.includes('CERTIFICATE REQUEST-----')) {
    throw new TypeError('Cannot read signing request: no PEM block of type CERTIFICATE REQUEST')
  }
  try {
    return new x509.Pkcs10CertificateRequest(pem)
  } catch (cause) {
    throw new TypeError('Cannot read signing request: it is not PKCS#10', { cause })
  }
}
