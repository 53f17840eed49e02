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

/** A request as its parts, whoever signed it. */
export interface SigningRequestProof {
  /** SPKI in DER. */
  readonly publicKeyDer: Uint8Array
  /** True when the request is signed by its own key. Throws where this platform cannot use that key. */
  readonly isSigned: () => Promise<boolean>
}

/** Throws TypeError when the bytes are no PKCS#10 request, or more than one. */
export function readSigningRequestProof(der: Uint8Array): SigningRequestProof {
  try {
    if (sequenceBytes(der) !== der.length) throw new TypeError('it does not end where it says')
    const request = new x509.Pkcs10CertificateRequest(new Uint8Array(der))
    const publicKeyDer = new Uint8Array(request.publicKey.rawData)
    return { publicKeyDer, isSigned: () => request.verify() }
  } catch (cause) {
    throw new TypeError('Cannot read signing request: it is not PKCS#10', { cause })
  }
}

/** How long the DER sequence says that it is, its head included; NaN where that is left open. */
function sequenceBytes(der: Uint8Array): number {
  const first = der[1] ?? Number.NaN
  if (first < 0x80) return first + 2
  const count = first - 0x80
  if (!(count >= 1 && count <= 4)) return Number.NaN
  return der.subarray(2, 2 + count).reduce((sum, byte) => sum * 256 + byte, 0) + 2 + count
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
