import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto'
import {
  fieldInvalid,
  invalidOmitted,
  type PodCertificateRequest,
  type StatusCause,
} from '@skerry/api'
import { readSigningRequestProof, type SigningRequestProof } from '@skerry/pki'

type Spec = PodCertificateRequest['spec']

const stubField = 'spec.stubPKCS10Request'
const keyField = 'spec.pkixPublicKey'
const unknownKey = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA'

/** Checks that the requester has proved that it holds the key. */
export async function keyProofCauses(spec: Spec): Promise<StatusCause[]> {
  if (spec.stubPKCS10Request) return await stubCauses(spec.stubPKCS10Request)
  return directKeyCauses(spec)
}

async function stubCauses(base64: string): Promise<StatusCause[]> {
  const request = readStub(base64)
  const key = request && readKey(request.publicKeyDer)
  if (!key) return [invalidOmitted(stubField, 'must be a valid PKCS#10 CSR')]
  const curves = 'P256, P384, or P521'
  const wrong = keyCauses(key, {
    field: stubField,
    curves,
    unknown: invalidOmitted(stubField, unknownKey),
  })
  if (wrong.length > 0) return wrong
  return (await request.isSigned()) ? [] : [invalidOmitted(stubField, 'invalid signature')]
}

function readStub(base64: string): SigningRequestProof | undefined {
  try {
    return readSigningRequestProof(Buffer.from(base64, 'base64'))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return undefined
  }
}

function directKeyCauses({ pkixPublicKey, proofOfPossession, podUID }: Spec): StatusCause[] {
  const key = readKey(Buffer.from(pkixPublicKey ?? '', 'base64'))
  const shown = pkixPublicKey ?? ''
  if (!key) return [fieldInvalid(keyField, shown, 'must be a valid PKIX-serialized public key')]
  const curves = 'P256 or P384'
  const wrong = keyCauses(key, {
    field: keyField,
    curves,
    unknown: fieldInvalid(keyField, shown, unknownKey),
  })
  if (wrong.length > 0) return wrong
  if (isProof(key, podUID, Buffer.from(proofOfPossession ?? '', 'base64'))) return []
  return [
    invalidOmitted('spec.proofOfPossession', 'could not verify proof-of-possession signature'),
  ]
}

const curveNames: Readonly<Record<string, string>> = Object.freeze({
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
  secp224r1: 'P-224',
})
const readable: readonly string[] = ['ed25519', 'ec', 'rsa', 'x25519', 'dsa']

/** Returns undefined if there is no key, or one of a kind that upstream's reader does not know. */
function readKey(der: Uint8Array): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' })
    if (!readable.includes(key.asymmetricKeyType ?? '')) return undefined
    const curve = key.asymmetricKeyDetails?.namedCurve
    return curve !== undefined && curveNames[curve] === undefined ? undefined : key
  } catch {
    // The caller only needs to know that it does not parse; the reason is in the parser's own
    // words.
    return undefined
  }
}

function keyCauses(
  key: KeyObject,
  { field, curves, unknown }: { field: string; curves: string; unknown: StatusCause },
): StatusCause[] {
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return []
    case 'ec': {
      const name = curveNames[namedCurve]
      if (name !== 'P-224') return []
      return [fieldInvalid(field, `curve ${name}`, `elliptic public keys must use curve ${curves}`)]
    }
    case 'rsa': {
      const bits = Math.ceil(modulusLength / 8) * 8
      if (bits === 3072 || bits === 4096) return []
      const detail = 'RSA keys must have modulus size 3072 or 4096'
      return [fieldInvalid(field, `${bits}-bit modulus`, detail)]
    }
    default:
      return [unknown]
  }
}

/** Checks the signed pod UID, which upstream's kubelets sent before stub requests existed. */
function isProof(key: KeyObject, podUid: string, signature: Uint8Array): boolean {
  const data = Buffer.from(podUid)
  if (key.asymmetricKeyType === 'ed25519') return verify(null, data, key, signature)
  if (key.asymmetricKeyType === 'ec') return verify('sha256', data, key, signature)
  const padding = constants.RSA_PKCS1_PSS_PADDING
  const saltLength = constants.RSA_PSS_SALTLEN_AUTO
  return verify('sha256', data, { key, padding, saltLength }, signature)
}
