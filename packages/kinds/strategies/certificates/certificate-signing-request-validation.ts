import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  type StatusCause,
} from '@skerry/api'
import { isSame, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkSignerName } from './signer-name.ts'

type Request = LooseObject<CertificateSigningRequest>
type Condition = Loose<CertificateSigningRequestCondition>

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]
const decided = ['Approved', 'Denied', 'Failed']

/** Checks the request's form. The signer, which has the crypto, verifies its signature. */
export function validateRequest(request: Request): StatusCause[] {
  const found: Found = []
  const { spec = {} } = request
  if (!isPem(spec.request ?? '', 'CERTIFICATE REQUEST')) {
    const detail = 'PEM block type must be CERTIFICATE REQUEST'
    found.push(fieldInvalid('spec.request', spec.request ?? null, detail))
  }
  const named = spec.usages ?? []
  if (named.length === 0) found.push(fieldRequired('spec.usages'))
  for (const [at, usage] of named.entries()) {
    if (!usages.includes(usage)) found.push(fieldNotSupported(`spec.usages[${at}]`, usage, usages))
  }
  for (const [at, usage] of named.entries()) {
    if (named.indexOf(usage) < at) found.push(fieldDuplicate(`spec.usages[${at}]`, usage))
  }
  checkSigner(spec.signerName ?? '', found)
  const { expirationSeconds } = spec
  if (expirationSeconds !== undefined && expirationSeconds < 600) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)'
    found.push(fieldInvalid('spec.expirationSeconds', expirationSeconds, detail))
  }
  checkConditions(request.status?.conditions ?? [], found)
  return found
}

function isPem(base64: string, type: string): boolean {
  try {
    return atob(base64).includes(`-----BEGIN ${type}-----`)
  } catch (error) {
    if (error instanceof DOMException) return false
    throw error
  }
}

function checkSigner(name: string, found: Found): void {
  if (name !== 'kubernetes.io/legacy-unknown') {
    checkSignerName(name, 'spec.signerName', found)
    return
  }
  const detail = 'the legacy signerName is not allowed via this API version'
  found.push(fieldInvalid('spec.signerName', name, detail))
}

function checkConditions(conditions: readonly Condition[], found: Found): void {
  const field = 'status.conditions'
  const seen = new Set<string>()
  for (const [at, { type = '', status = '' }] of conditions.entries()) {
    if (!type) found.push(fieldRequired(`${field}[${at}].type`))
    const allowed = decided.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    if (!status) found.push(fieldRequired(`${field}[${at}].status`))
    else if (!allowed.includes(status)) {
      found.push(fieldNotSupported(`${field}[${at}].status`, status, allowed))
    }
    const opposite = type === 'Approved' ? 'Denied' : 'Approved'
    if ((type === 'Approved' || type === 'Denied') && seen.has(opposite)) {
      const detail = 'Approved and Denied conditions are mutually exclusive'
      found.push(fieldInvalid(field, type, detail))
    }
    if (seen.has(type)) found.push(fieldDuplicate(`${field}[${at}].type`, type))
    seen.add(type)
  }
}

interface Permissions {
  mayDecide: boolean
  mayIssue: boolean
}

export function validateRequestUpdate(next: Request, old: Request): StatusCause[] {
  return checkUpdate(next, old, { mayDecide: false, mayIssue: false })
}

export function validateRequestStatus(next: Request, old: Request): StatusCause[] {
  return checkUpdate(next, old, { mayDecide: false, mayIssue: true })
}

/** Checks an update of the approval subresource. */
export function validateRequestApproval(next: Request, old: Request): StatusCause[] {
  return checkUpdate(next, old, { mayDecide: true, mayIssue: false })
}

function checkUpdate(next: Request, old: Request, permissions: Permissions): StatusCause[] {
  const found = validateRequest(next)
  const field = 'status.conditions'
  for (const type of decided) {
    if (countOf(next, type) >= countOf(old, type)) continue
    const detail = `updates may not remove a condition of type "${type}"`
    found.push(fieldForbidden(field, detail))
  }
  if (!permissions.mayDecide) {
    for (const type of ['Approved', 'Denied']) checkUndecided(next, old, type, found)
  }
  const certificate = next.status?.certificate ?? ''
  const before = old.status?.certificate ?? ''
  if (certificate === before) return found
  if (!permissions.mayIssue) {
    found.push(fieldForbidden('status.certificate', 'updates may not set certificate content'))
  } else if (before) {
    const detail = 'updates may not modify existing certificate content'
    found.push(fieldForbidden('status.certificate', detail))
  }
  return found
}

function conditionsOf(request: Request, type: string): Condition[] {
  return (request.status?.conditions ?? []).filter((condition) => condition.type === type)
}

function countOf(request: Request, type: string): number {
  return conditionsOf(request, type).length
}

function checkUndecided(next: Request, old: Request, type: string, found: Found): void {
  const now = conditionsOf(next, type)
  const before = conditionsOf(old, type)
  if (now.length > before.length) {
    const detail = `updates may not add a condition of type "${type}"`
    found.push(fieldForbidden('status.conditions', detail))
  } else if (now.length === before.length && !isSame(now, before)) {
    const detail = `updates may not modify a condition of type "${type}"\n`
    found.push(fieldForbidden('status.conditions', detail))
  }
}
