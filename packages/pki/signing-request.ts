import { createPublicKey } from 'node:crypto'
import { namesOf, subjectOf, type AlternativeNames } from './certificate.ts'
import { x509 } from './x509-library.ts'

/** The content of a PKCS#10 request. */
export interface SigningRequest extends AlternativeNames {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** SPKI in PEM: the key that the certificate will be for. */
  readonly publicKeyPem: string
}

/** Throws TypeError if the text is not a PKCS#10 request, or its own key did not sign it. */
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

/** The parts of a request, with its signature not verified yet. */
export interface SigningRequestProof {
  /** SPKI in DER. */
  readonly publicKeyDer: Uint8Array
  /** Resolves to true if the request's own key signed it. Throws if this platform cannot use that key. */
  readonly isSigned: () => Promise<boolean>
}

/** Throws TypeError if the bytes are not exactly one PKCS#10 request. */
export function readSigningRequestProof(der: Uint8Array): SigningRequestProof {
  try {
    if (sequenceBytes(der) !== der.length) throw new TypeError('its declared length is wrong')
    const request = new x509.Pkcs10CertificateRequest(new Uint8Array(der))
    const publicKeyDer = new Uint8Array(request.publicKey.rawData)
    return { publicKeyDer, isSigned: () => request.verify() }
  } catch (cause) {
    throw new TypeError('Cannot read signing request: it is not PKCS#10', { cause })
  }
}

/** Returns the length of the DER sequence, including its head, or NaN if the length is indefinite. */
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
