import { createPrivateKey, randomUUID, sign, verify, X509Certificate } from 'node:crypto'
import { pkiBounds } from './limits-table.ts'

/**
 * Tokens that a node signs for its pods while nobody else can: JSON Web Tokens (RFC 7519) whose header has the node's
 * certificate (RFC 7515, section 4.1.6). The issuer's name marks them, and nobody else gives out such names.
 */

const { secondsMax, textMax } = pkiBounds.nodeToken

const issuerPrefix = 'urn:skerry:node:'

/** The key that signs, and the certificate of its node, in PEM. */
interface NodeTokenSigner {
  readonly nodeName: string
  readonly certificatePem: string
  readonly privateKeyPem: string
}

interface SignedNodeToken {
  readonly token: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** A token whose signature is by the key of the certificate in it. Whether that certificate is good is not said. */
export interface NodeToken {
  readonly nodeName: string
  readonly certificatePem: string
  readonly payload: Readonly<Record<string, unknown>>
}

/**
 * Signs a token that says the same as one of the control plane's, for at most `seconds` and an hour. Throws RangeError
 * unless that one is bound to a pod on this node.
 */
export function signNodeToken(
  former: string,
  { nodeName, certificatePem, privateKeyPem }: NodeTokenSigner,
  { nowMs, seconds = secondsMax }: { readonly nowMs: number; readonly seconds?: number },
): SignedNodeToken {
  const { sub, aud, ...claims } = partOf(former, 1) ?? {}
  const own = recordOf(claims['kubernetes.io'])
  if (!recordOf(own['pod'])['uid'] || recordOf(own['node'])['name'] !== nodeName) {
    throw new RangeError('Cannot sign a token: the former one is not bound to a pod on this node')
  }
  const { warnafter: _stale, secret: _secret, ...bound } = own
  const issuedAt = Math.floor(nowMs / 1_000)
  const expiresAt = issuedAt + Math.min(seconds, secondsMax)
  const der = new X509Certificate(certificatePem).raw.toString('base64')
  const header = { alg: 'ES256', typ: 'JWT', x5c: [der] }
  const payload = {
    iss: `${issuerPrefix}${nodeName}`,
    sub,
    aud,
    iat: issuedAt,
    nbf: issuedAt,
    exp: expiresAt,
    jti: randomUUID(),
    'kubernetes.io': bound,
  }
  const text = [header, payload].map(encoded).join('.')
  const key = createPrivateKey(privateKeyPem)
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding }).toString('base64url')
  return {
    token: `${text}.${signature}`,
    issuedAtMs: issuedAt * 1_000,
    expiresAtMs: expiresAt * 1_000,
  }
}

/**
 * Signs a token in the place of the control plane's if that one has ended, or has a fifth of its life left. Returns
 * undefined while it is good, and for a token that no node may replace.
 */
export function standInToken(
  former: string,
  signer: NodeTokenSigner,
  nowMs: number,
): SignedNodeToken | undefined {
  const { iat, exp } = partOf(former, 1) ?? {}
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  if (nowMs / 1_000 < iat + 0.8 * (exp - iat)) return undefined
  try {
    return signNodeToken(former, signer, { nowMs, seconds: exp - iat })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Returns for whom a token is; an empty list if it is not a JSON Web Token. Its signature is not looked at. */
export function audiencesOf(token: string): string[] {
  return [partOf(token, 1)?.['aud']].flat().filter((audience) => typeof audience === 'string')
}

/** Returns undefined if the text is not a node's token. Throws TypeError if it is one and is damaged or forged. */
export function readNodeToken(token: string): NodeToken | undefined {
  const payload = token.length > textMax ? undefined : partOf(token, 1)
  const issuer = payload?.['iss']
  if (!payload || typeof issuer !== 'string' || !issuer.startsWith(issuerPrefix)) return undefined
  const certificate = certificateIn(token)
  const at = token.lastIndexOf('.')
  const signature = Buffer.from(token.slice(at + 1), 'base64url')
  const signed = Buffer.from(token.slice(0, at))
  if (!verify('sha256', signed, { key: certificate.publicKey, dsaEncoding }, signature)) {
    throw new TypeError('the signature is not by the certificate of the token')
  }
  const nodeName = issuer.slice(issuerPrefix.length)
  return { nodeName, certificatePem: certificate.toString(), payload }
}

/** RFC 7518, section 3.4. */
const dsaEncoding = 'ieee-p1363'

function certificateIn(token: string): X509Certificate {
  const { alg, x5c } = partOf(token, 0) ?? {}
  const [leaf, ...more]: unknown[] = Array.isArray(x5c) ? x5c : []
  if (alg !== 'ES256' || typeof leaf !== 'string' || more.length > 0) {
    throw new TypeError('the token has no certificate of a node')
  }
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(Buffer.from(leaf, 'base64'))
  } catch (cause) {
    throw new TypeError('the certificate of the token cannot be read', { cause })
  }
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey
  if (asymmetricKeyType !== 'ec' || asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new TypeError('the key of the token has another curve than P-256')
  }
  return certificate
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Returns undefined if the text has not three parts, of which this one is a JSON object. */
function partOf(token: string, at: 0 | 1): Record<string, unknown> | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(parts[at] ?? '', 'base64url').toString('utf8'))
    return isRecord(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
