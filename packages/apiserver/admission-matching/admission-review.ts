import { checkFields } from '@skerry/bodies'
import {
  isJsonObject,
  isStatusError,
  type AnyObject,
  type JsonObject,
  type SchemaSet,
} from '@skerry/api'
import type { AdmissionRequest, ServedResource } from '../contract/admission.ts'
import { namespaceOf } from './request-match.ts'

export type ReviewVersion = 'v1' | 'v1beta1'

/** The objects of a request in the version that the webhook's rules name. */
export interface ReviewSubject {
  readonly request: AdmissionRequest
  readonly matched: ServedResource
  readonly object: AnyObject | undefined
  readonly oldObject: AnyObject | undefined
}

/** Returns the first version that both sides know. */
export function reviewVersionOf(versions: readonly string[]): ReviewVersion | undefined {
  return versions.find((version) => version === 'v1' || version === 'v1beta1')
}

/** Builds the request half of an AdmissionReview (admission.k8s.io). */
export function admissionReview(
  subject: ReviewSubject,
  { uid, version }: { uid: string; version: ReviewVersion },
): JsonObject {
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: { uid, ...reviewRequest(subject), ...reviewObjects(subject) },
  }
}

/** Builds the `request` variable of policies: everything except the uid and the objects. */
export function reviewRequest({ request, matched }: ReviewSubject): JsonObject {
  const { subresource, name, user, options } = request
  const namespace = namespaceOf(request)
  const { group, version, kind } = request.objectKind
  return {
    kind: gvk(matched.kind),
    resource: { ...matched.resource },
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { group, version, kind },
    requestResource: { ...request.resource },
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation: request.operation,
    userInfo: {
      ...(user.name === '' ? {} : { username: user.name }),
      ...(user.uid ? { uid: user.uid } : {}),
      ...(user.groups.length === 0 ? {} : { groups: user.groups }),
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    },
    dryRun: request.isDryRun,
    options: options ? withoutEmptyMetadata(options) : null,
  }
}

function reviewObjects({ request, object, oldObject }: ReviewSubject): JsonObject {
  // The object of a CONNECT request is an options object as well.
  const shown = object && request.operation === 'CONNECT' ? withoutEmptyMetadata(object) : object
  return { object: shown ?? null, oldObject: oldObject ?? null }
}

function gvk({ group, version, kind }: { group: string; version: string; kind: string }) {
  return { group, version, kind }
}

/** Options have no metadata; only our object type requires it. */
function withoutEmptyMetadata(options: AnyObject): JsonObject {
  const { kind, apiVersion, metadata: _metadata, ...rest } = options
  return { kind, apiVersion, ...rest }
}

export interface AdmissionResponse {
  readonly isAllowed: boolean
  /** JSON, decoded from base64. It is empty if there is no patch. */
  readonly patch: string
  readonly patchType: string
  readonly status: JsonObject | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/** Reports that the answer is not an AdmissionReview at all. */
export class ReviewDecodeError extends Error {
  override name = 'ReviewDecodeError'
}

/**
 * Throws ReviewDecodeError if the value is not an AdmissionReview, and Error if the review says
 * something it may not. Both use upstream's words.
 */
export function admissionResponse(
  value: unknown,
  asked: { uid: string; version: ReviewVersion; isMutating: boolean },
): AdmissionResponse {
  const review = decodeReview(value, asked.version)
  const { response } = review
  if (!isJsonObject(response)) throw new Error('webhook response was absent')
  if (asked.version === 'v1') checkIdentity(review, response, asked.uid)
  const patch = Buffer.from(textOf(response, 'patch'), 'base64').toString()
  const hasType = response['patchType'] !== undefined
  if (asked.version === 'v1') checkPatch({ patch, hasType, response }, asked.isMutating)
  const { allowed, status, warnings, auditAnnotations } = response
  return {
    isAllowed: allowed === true,
    patch: asked.isMutating ? patch : '',
    patchType: asked.version === 'v1' ? textOf(response, 'patchType') : 'JSONPatch',
    status: isJsonObject(status) ? status : undefined,
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    auditAnnotations: isJsonObject(auditAnnotations) ? textsOf(auditAnnotations) : {},
  }
}

function textsOf(map: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)]))
}

const schemas: SchemaSet = Object.freeze({
  AdmissionReview: {
    type: 'object',
    properties: {
      kind: { type: 'string' },
      apiVersion: { type: 'string' },
      response: { ref: 'AdmissionResponse' },
    },
  },
  AdmissionResponse: {
    type: 'object',
    properties: {
      uid: { type: 'string' },
      allowed: { type: 'boolean' },
      status: { ref: 'Status' },
      patch: { type: 'string', format: 'byte' },
      patchType: { type: 'string' },
      auditAnnotations: { type: 'object', additionalProperties: { type: 'string' } },
      warnings: { type: 'array', items: { type: 'string' } },
    },
  },
  Status: {
    type: 'object',
    properties: {
      kind: { type: 'string' },
      apiVersion: { type: 'string' },
      metadata: { type: 'object' },
      status: { type: 'string' },
      message: { type: 'string' },
      reason: { type: 'string' },
      details: { ref: 'StatusDetails' },
      code: { type: 'integer', format: 'int32' },
    },
  },
  StatusDetails: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      group: { type: 'string' },
      kind: { type: 'string' },
      uid: { type: 'string' },
      causes: { type: 'array', items: { ref: 'StatusCause' } },
      retryAfterSeconds: { type: 'integer', format: 'int32' },
    },
  },
  StatusCause: {
    type: 'object',
    properties: {
      reason: { type: 'string' },
      message: { type: 'string' },
      field: { type: 'string' },
    },
  },
})

function decodeReview(value: unknown, version: ReviewVersion): JsonObject {
  if (!isJsonObject(value)) {
    const sort = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    const form = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`
    throw new ReviewDecodeError(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${sort} into Go value of type ${form}`,
    )
  }
  requireReview(value, version)
  const copy = structuredClone(value)
  const isPatchTypeEmpty = isJsonObject(value['response']) && value['response']['patchType'] === ''
  try {
    checkFields({ object: copy, schemas, schemaName: 'AdmissionReview', kind: 'AdmissionReview' })
  } catch (error) {
    if (!isStatusError(error, 'BadRequest')) throw error
    const why = error.cause instanceof Error ? error.cause.message : error.message
    throw new ReviewDecodeError(why, { cause: error })
  }
  // An empty patch type differs from an omitted one.
  if (isPatchTypeEmpty && isJsonObject(copy['response'])) copy['response']['patchType'] = ''
  return copy
}

const reviewKinds: Readonly<Record<string, string>> = Object.freeze({
  'admission.k8s.io/v1 AdmissionReview': 'v1.AdmissionReview',
  'admission.k8s.io/v1beta1 AdmissionReview': 'v1beta1.AdmissionReview',
  'v1 Status': 'v1.Status',
})

/** Missing names are found later; wrong ones mean another kind. */
function requireReview(value: JsonObject, version: ReviewVersion): void {
  const [apiVersion, kind] = [textOf(value, 'apiVersion'), textOf(value, 'kind')]
  if (apiVersion === '' || kind === '') return
  const known = reviewKinds[`${apiVersion} ${kind}`]
  const wanted = `${version}.AdmissionReview`
  if (known === wanted) return
  throw new ReviewDecodeError(
    known === undefined
      ? `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`
      : `converting (${known}) to (${wanted}): unknown conversion`,
  )
}

function checkIdentity(review: JsonObject, response: JsonObject, uid: string): void {
  const got = textOf(response, 'uid')
  if (got !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`)
  }
  const [apiVersion, kind] = [textOf(review, 'apiVersion'), textOf(review, 'kind')]
  if (apiVersion !== '' && kind !== '') return
  const wanted = 'admission.k8s.io/v1, Kind=AdmissionReview'
  throw new Error(`expected webhook response of ${wanted}, got ${apiVersion || '/'}, Kind=${kind}`)
}

function checkPatch(
  { patch, hasType, response }: { patch: string; hasType: boolean; response: JsonObject },
  isMutating: boolean,
): void {
  if (!isMutating) {
    if (patch !== '') throw new Error('validating webhook may not return response.patch')
    if (hasType) throw new Error('validating webhook may not return response.patchType')
    return
  }
  if (patch !== '' && !hasType) {
    throw new Error('webhook returned response.patch but not response.patchType')
  }
  if (patch === '' && hasType) {
    throw new Error('webhook returned response.patchType but not response.patch')
  }
  if (hasType && textOf(response, 'patchType') === '') {
    throw new Error('webhook returned invalid response.patchType of ""')
  }
}

function textOf(object: JsonObject, key: string): string {
  const value = object[key]
  return typeof value === 'string' ? value : ''
}
