import {
  byteLength,
  checkDnsSubdomain,
  checkQualifiedName,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  invalidOmitted,
  type PodCertificateRequest,
  type StatusCause,
} from '@skerry/api'
import { addInvalid, checkUnchanged, isLongerThan, type Found } from '../checks.ts'
import { keepField, statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { validateRequestStatus } from './pod-certificate-status.ts'
import { checkSignerName } from './signer-name.ts'
import { kindsBounds } from '../../limits-table.ts'

export const podCertificateRequestStrategy = strategyOf<PodCertificateRequest>({
  ...statusApart,
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  defaults(request) {
    request.status ??= {}
    writeKeyFields((request.spec ??= {}))
  },
  prepareForStatusUpdate(next, old) {
    keepField(next, old, 'spec')
    for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
      keepField(next.metadata, old.metadata, field)
    }
  },
  validate: validateRequest,
  validateUpdate(next, old) {
    const found: Found = []
    checkUnchanged(next.spec, old.spec, 'spec', found)
    return found
  },
  validateStatusUpdate: validateRequestStatus,
})

/** Upstream's type always writes these fields. */
function writeKeyFields(spec: Partial<Record<(typeof keyFields)[number], unknown>>): void {
  for (const field of keyFields) spec[field] ??= null
}

const keyFields = ['pkixPublicKey', 'proofOfPossession', 'stubPKCS10Request'] as const

const { annotationsBytesMax, keyBytesMax, secondsMin } = kindsBounds.podCertificateRequest

/** Checks keys with a domain prefix, in any case. */
function checkUserAnnotations(annotations: Readonly<Record<string, string>>, found: Found): void {
  const field = 'spec.unverifiedUserAnnotations'
  let bytes = 0
  for (const [text, value] of Object.entries(annotations)) {
    const key = text.toLowerCase()
    bytes += byteLength(text) + byteLength(value)
    if (key === '') {
      found.push(fieldRequired(field))
      continue
    }
    const problems = checkQualifiedName(key)
    addInvalid(found, field, key, problems)
    if (problems.length > 0 || key.includes('/')) continue
    found.push(fieldInvalid(field, key, 'must be a domain-prefixed key (such as "acme.io/foo")'))
  }
  if (bytes > annotationsBytesMax) found.push(fieldTooLong(field, annotationsBytesMax))
}

/** Returns the number of bytes that the base64 text encodes. */
function bytesOf(text: string | null | undefined): number {
  return text ? Math.floor((text.replace(/=+$/, '').length * 3) / 4) : 0
}

const daySeconds = 86_400

function validateRequest({ spec = {} }: LooseObject<PodCertificateRequest>): StatusCause[] {
  const found: Found = []
  const { maxExpirationSeconds: seconds, signerName = '' } = spec
  checkSignerName(signerName, 'spec.signerName', found)
  checkUserAnnotations(spec.unverifiedUserAnnotations ?? {}, found)
  for (const owner of ['pod', 'serviceAccount', 'node'] as const) {
    const name = spec[`${owner}Name`] ?? ''
    addInvalid(found, `spec.${owner}Name`, name, checkDnsSubdomain(name))
    const uid = spec[`${owner}UID`] ?? ''
    const field = `spec.${owner}UID`
    if (!uid) found.push(fieldInvalid(field, uid, 'must not be empty'))
    if (isLongerThan(uid, 128)) found.push(fieldTooLong(field, 128))
  }
  if (seconds === undefined) {
    found.push(fieldRequired('spec.maxExpirationSeconds', 'must be set'))
    return found
  }
  const isOurs = signerName.startsWith('kubernetes.io/')
  const secondsMax = (isOurs ? 1 : 91) * daySeconds
  if (seconds < secondsMin || seconds > secondsMax) {
    const detail = `must be in the range [${secondsMin}, ${secondsMax}]`
    found.push(fieldInvalid('spec.maxExpirationSeconds', seconds, detail))
  }
  const hasStub = Boolean(spec.stubPKCS10Request)
  const [hasKey, hasProof] = [Boolean(spec.pkixPublicKey), Boolean(spec.proofOfPossession)]
  if (hasKey !== hasProof || hasKey === hasStub) {
    const detail =
      'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'
    found.push(invalidOmitted('spec', detail))
    return found
  }
  const tooLong = keyFields.find((field) => bytesOf(spec[field]) > keyBytesMax)
  if (tooLong) found.push(fieldTooLong(`spec.${tooLong}`, keyBytesMax))
  return found
}
