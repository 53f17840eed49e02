import {
  fieldInvalid,
  fieldRequired,
  type PodCertificateRequest,
  type StatusCause,
} from '@skerry/api'
import { pemBlocks } from '@skerry/kinds'
import { readSigningRequestProof } from '@skerry/pki'
import { readX509, type ReadCertificate } from './read-x509.ts'

type Status = NonNullable<PodCertificateRequest['status']>
type Checked = { readonly next: PodCertificateRequest; readonly nowMs: number }

const chainField = 'status.certificateChain'
const hourMs = 3_600_000
const minuteMs = 60_000

/** Checks that a signer has issued what was requested. Reports the first error. */
export function issuedCertificateCauses({ next, nowMs }: Checked): StatusCause[] {
  const { status = {} } = next
  if (!isIssued(status)) return []
  const { certificateChain: chain = '' } = status
  const [leafBlock, ...further] = pemBlocks(chain)
  const wrong = (detail: string): StatusCause[] => [fieldInvalid(chainField, chain, detail)]
  if (!leafBlock) return wrong('issued certificate chain must contain at least one certificate')
  if (leafBlock.type !== 'CERTIFICATE') return wrong(entirely)
  const leaf = readX509(leafBlock.base64)
  if (!leaf) return wrong('leaf certificate does not parse as valid X.509')
  const names = nameCauses(leaf)
  if (!isForKey(leaf, next)) {
    return [...names, ...wrong('leaf certificate was not issued to the requested public key')]
  }
  const found = [...names, ...timeCauses(leaf, { next, nowMs })]
  if (found.length > names.length) return found
  if (further.some(({ type }) => type !== 'CERTIFICATE')) {
    return [...found, ...wrong(entirely.replace('CERTIFICATE', 'CERTFICATE'))]
  }
  if (further.every(({ base64 }) => readX509(base64))) return found
  return [...found, ...wrong('intermediate certificate does not parse as valid X.509')]
}

const entirely = 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks'

function isIssued({ conditions = [] }: Status): boolean {
  return conditions.some(({ type, status }) => type === 'Issued' && status === 'True')
}

function nameCauses({ dnsNames, emails }: ReadCertificate): StatusCause[] {
  const found: StatusCause[] = []
  const wrong = (value: string, detail: string) =>
    found.push(fieldInvalid(chainField, value, detail))
  for (const name of dnsNames) {
    if (name === '') wrong(name, 'leaf certificate should not contain empty DNSName')
    if (name.includes('..')) wrong(name, "leaf certificate's DNSName should not contain '..'")
    if (name.startsWith('.') || name.endsWith('.')) {
      wrong(name, "leaf certificate's DNSName should not start or end with '.'")
    }
  }
  for (const email of emails) {
    if (!/^[^\s@<>()[\]:;,\\"]+@[^\s@<>()[\]:;,\\"]+$/.test(email)) {
      wrong(email, 'leaf certificate should not contain invalid EmailAddress')
    }
  }
  return found
}

function isForKey(leaf: ReadCertificate, { spec }: PodCertificateRequest): boolean {
  const stub = spec.stubPKCS10Request
  const wanted = stub
    ? readSigningRequestProof(Buffer.from(stub, 'base64')).publicKeyDer
    : Buffer.from(spec.pkixPublicKey ?? '', 'base64')
  return Buffer.from(leaf.publicKeyDer).equals(wanted)
}

function timeCauses(leaf: ReadCertificate, { next, nowMs }: Checked): StatusCause[] {
  const { notBefore, notAfter, beginRefreshAt } = next.status ?? {}
  const found: StatusCause[] = []
  const consistent = 'must be present and consistent with the issued certificate'
  if (!notBefore) found.push(fieldRequired('status.notBefore', consistent))
  if (!notAfter) found.push(fieldRequired('status.notAfter', consistent))
  if (!beginRefreshAt) {
    const detail = 'must be present and in the range [notbefore+10min, notafter-10min]'
    found.push(fieldRequired('status.beginRefreshAt', detail))
  }
  if (!notBefore || !notAfter || !beginRefreshAt) return found
  const wrong = (field: string, value: string, detail: string): StatusCause[] => [
    fieldInvalid(`status.${field}`, value, detail),
  ]
  const [from, to] = [Date.parse(notBefore), Date.parse(notAfter)]
  if (from !== leaf.notBeforeMs) {
    return wrong('notBefore', notBefore, timeOf('NotBefore'))
  }
  if (Math.abs(from - nowMs) >= 5 * minuteMs) {
    const detail = "must be set to within 5 minutes of kube-apiserver's current time"
    return wrong('notBefore', notBefore, detail)
  }
  if (to !== leaf.notAfterMs) return wrong('notAfter', notAfter, timeOf('NotAfter'))
  return lifetimeCauses({ from, to, refresh: Date.parse(beginRefreshAt) }, next)
}

function timeOf(field: string): string {
  return `must be set to the ${field} time encoded in the leaf certificate`
}

function lifetimeCauses(
  { from, to, refresh }: Readonly<Record<'from' | 'to' | 'refresh', number>>,
  { spec, status }: PodCertificateRequest,
): StatusCause[] {
  // Returns nanoseconds, as upstream shows a duration.
  const lifetime = (to - from) * 1_000_000
  const secondsMax = spec.maxExpirationSeconds ?? 0
  if (to - from < hourMs) {
    const detail = 'leaf certificate lifetime must be >= 1 hour'
    return [fieldInvalid(chainField, lifetime, detail)]
  }
  if (to - from > secondsMax * 1_000) {
    const detail = `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${secondsMax})`
    return [fieldInvalid(chainField, lifetime, detail)]
  }
  const refreshText = status?.beginRefreshAt ?? ''
  const wrong = (detail: string): StatusCause[] => [
    fieldInvalid('status.beginRefreshAt', refreshText, detail),
  ]
  if (refresh < from + 10 * minuteMs) {
    return wrong('must be at least 10 minutes after status.notBefore')
  }
  if (refresh > to - 10 * minuteMs) {
    return wrong('must be at least 10 minutes before status.notAfter')
  }
  return []
}

/** Returns upstream's error for a caller who is not the signer. */
export function notTheSigner(user: string, signerName: string): StatusCause {
  const who = `User ${JSON.stringify(user)} is not permitted to "sign" for signer ${JSON.stringify(signerName)}`
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${who}`, field: 'spec.signerName' }
}
