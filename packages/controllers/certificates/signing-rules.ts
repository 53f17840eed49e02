import type { CertificateSigningRequest } from '@skerry/api'
import { type Authority, type KeyUsage, type SigningRequest, type Subject } from '@skerry/pki'
import { clientSigner, nodeClientSigner, nodeServingSigner } from './approval-plan.ts'
import { controllerBounds } from '../limits-table.ts'

export interface CsrSigningOptions {
  /** Signs client certificates. The API server trusts it for clients. */
  clientAuthority: Authority
  /** Signs the nodes' serving certificates. The API server trusts it for nodes. */
  servingAuthority: Authority
  /** The longest lifetime of a signed certificate, in seconds. Upstream's default is a year. */
  durationSecondsMax: number
  /**
   * Returns the time as reckoned from what the machine knew before. Certificates are valid by it
   * and by the clock, so that nobody is locked out whichever is right. If omitted or undefined,
   * only the clock counts.
   */
  readonly reckonedMs?: () => number | undefined
  /**
   * Returns the first digits of the serial number of a certificate for this subject; see
   * CertificateProfile. Default: random.
   */
  readonly serialPrefixOf?: (subject: Subject) => string | undefined
}

const { backdateMs, durationSecondsMin, shortMs } = controllerBounds.signingRules

/** Maps API usages to key usages of certificates (RFC 5280 4.2.1.3). */
export const keyUsageOf: Readonly<Record<string, KeyUsage>> = Object.freeze({
  'digital signature': 'digitalSignature',
  'key encipherment': 'keyEncipherment',
})
export const extendedUsageOf: Readonly<Record<string, string>> = Object.freeze({
  'client auth': 'clientAuth',
  'server auth': 'serverAuth',
})

/** The usages of each signer, sorted as in its message. */
export const usagesOfSigner: Readonly<Record<string, readonly string[]>> = Object.freeze({
  [clientSigner]: ['client auth', 'digital signature', 'key encipherment'],
  [nodeClientSigner]: ['client auth', 'digital signature', 'key encipherment'],
  [nodeServingSigner]: ['digital signature', 'key encipherment', 'server auth'],
})

/** Returns how the request breaks its signer's rules, in upstream's words, or undefined if it does not. */
export function faultOf(
  csr: CertificateSigningRequest,
  request: SigningRequest,
): string | undefined {
  const { signerName, usages = [] } = csr.spec ?? {}
  if (signerName === clientSigner) return faultOfClient(usages, request)
  return faultOfNode(request, { isServing: signerName === nodeServingSigner, usages })
}

function faultOfClient(
  usages: readonly string[],
  { organizations }: SigningRequest,
): string | undefined {
  const foreign = usages.find((usage) => !usagesOfSigner[clientSigner]?.includes(usage))
  if (foreign !== undefined) return `invalid usage for client certificate: ${foreign}`
  if (!usages.includes('client auth')) {
    return 'missing required usage for client certificate: client auth'
  }
  // Admission refuses this, but a request from before admission did so must not pass here.
  return organizations.includes('system:masters')
    ? 'no certificate is signed for system:masters'
    : undefined
}

function faultOfNode(
  request: SigningRequest,
  { isServing, usages }: { isServing: boolean; usages: readonly string[] },
): string | undefined {
  if (request.organizations.join() !== 'system:nodes') {
    return 'subject organization is not system:nodes'
  }
  const nameFault = isServing ? faultOfServingNames(request) : faultOfClientNames(request)
  if (nameFault !== undefined) return nameFault
  const all = usagesOfSigner[isServing ? nodeServingSigner : nodeClientSigner] ?? []
  const given = new Set(usages)
  const hasThem = all.every((usage) => given.has(usage) || usage === 'key encipherment')
  const isNode = request.commonName.startsWith('system:node:')
  const faults = [
    hasThem && usages.every((usage) => all.includes(usage))
      ? undefined
      : `usages did not match [${all.join(' ')}]`,
    isNode ? undefined : 'subject common name does not begin with system:node:',
  ]
  // Upstream checks these in this order for one signer, and in reverse for the other.
  return (isServing ? faults : faults.toReversed()).find((fault) => fault !== undefined)
}

function faultOfServingNames(request: SigningRequest): string | undefined {
  if (request.dnsNames.length + request.ipAddresses.length === 0) {
    return 'DNS or IP subjectAltName is required'
  }
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed'
  return request.uris.length > 0 ? 'URI subjectAltNames are not allowed' : undefined
}

function faultOfClientNames(request: SigningRequest): string | undefined {
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (request.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed'
  return request.uris.length > 0 ? 'URI subjectAltNames are not allowed' : undefined
}

/** Returns the certificate's lifetime: the requested one, within limits. */
export function lifetimeOf(
  { spec }: CertificateSigningRequest,
  {
    durationSecondsMax,
    nowMs,
    reckonedMs = nowMs,
  }: { durationSecondsMax: number; nowMs: number; reckonedMs?: number | undefined },
): { notBeforeMs: number; notAfterMs: number } {
  const asked = Math.max(spec?.expirationSeconds ?? durationSecondsMax, durationSecondsMin)
  const ms = Math.min(asked, durationSecondsMax) * 1_000
  const isShort = ms < shortMs
  return {
    notBeforeMs: Math.min(nowMs, reckonedMs) - backdateMs,
    notAfterMs: Math.max(nowMs, reckonedMs) + ms - (isShort ? 0 : backdateMs),
  }
}
