import {
  isJsonObject,
  StatusError,
  type AnyObject,
  type CustomResourceDefinition,
  type JsonObject,
} from '@skerry/api'
import { messageOf, type Random } from '@skerry/base'
import type { ConvertObjects } from '../registry/kind-reader.ts'
import { newUid } from '../contract/uid.ts'
import { restoredMetadata } from './converted-metadata.ts'
import type { WebhookClient } from './webhook-client.ts'
import { webhookLimits } from '../limits-table.ts'

export interface ConversionDeps {
  readonly client: WebhookClient
  readonly random: Random
}

/** Creates converters between the versions of a definition's objects. */
export function createConverters(
  deps: ConversionDeps,
): (crd: CustomResourceDefinition) => ConvertObjects {
  return (crd) => (objects, apiVersion, signal) =>
    convertByWebhook(crd, objects, { apiVersion, signal }, deps)
}

/**
 * Converts the objects to the requested version, in their order, by the webhook of their
 * definition. Objects that already have that version are not sent; all others go in one request.
 * Throws StatusError with upstream's words if the webhook fails or does not return the same
 * objects.
 */
export async function convertByWebhook(
  crd: CustomResourceDefinition,
  objects: readonly AnyObject[],
  { apiVersion, signal }: { apiVersion: string; signal: AbortSignal },
  deps: ConversionDeps,
): Promise<AnyObject[]> {
  const pending = objects.filter((object) => object.apiVersion !== apiVersion)
  const [first] = pending
  if (!first) return [...objects]
  const subject = `${first.apiVersion}, Kind=${first.kind}`
  const answers = await ask(crd, pending, { apiVersion, signal, subject }, deps)
  if (answers.length !== pending.length) {
    throw refuse(subject, `returned ${answers.length} objects, expected ${pending.length}`)
  }
  const place = (index: number): string =>
    objects.length === 1
      ? 'returned invalid'
      : `returned invalid converted object at index ${index}`
  const converted = answers.map((answer, index) => {
    // There are as many answers as objects sent.
    const original = pending[index] ?? first
    return checked(answer, original, { apiVersion, subject, place: place(index) })
  })
  return objects.map((object) =>
    object.apiVersion === apiVersion ? object : (converted[pending.indexOf(object)] ?? object),
  )
}

interface Asked {
  readonly apiVersion: string
  readonly signal: AbortSignal
  readonly subject: string
}

async function ask(
  crd: CustomResourceDefinition,
  objects: readonly AnyObject[],
  { apiVersion, signal, subject }: Asked,
  { client, random }: ConversionDeps,
): Promise<unknown[]> {
  const { clientConfig, conversionReviewVersions = [] } = crd.spec.conversion?.webhook ?? {}
  const version = conversionReviewVersions.find((name) => name === 'v1' || name === 'v1beta1')
  if (!version) throw unknownError('no supported conversion review versions')
  const uid = newUid(random)
  const body = JSON.stringify({
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion: apiVersion, objects },
  })
  try {
    const timeoutMs = webhookLimits.conversionTimeoutMs
    const value = await client.post({ address: clientConfig ?? {}, body, timeoutMs }, signal)
    return answersOf(value, uid, version)
  } catch (error) {
    if (signal.aborted) throw error
    const why = messageOf(error)
    throw refuse(subject, `failed: ${why}`, error)
  }
}

function answersOf(value: unknown, uid: string, version: string): unknown[] {
  const review = isJsonObject(value) ? value : {}
  const { response } = review
  const wanted = 'apiextensions.k8s.io/v1, Kind=ConversionReview'
  const got = `${textOf(review['apiVersion']) || '/'}, Kind=${textOf(review['kind'])}`
  // v1beta1 does not guarantee these two fields.
  if (version === 'v1' && got !== wanted) {
    throw new Error(`expected webhook response of ${wanted}, got ${got}`)
  }
  if (!isJsonObject(response)) throw new Error('no response provided')
  if (version === 'v1' && response['uid'] !== uid) {
    const other = typeof response['uid'] === 'string' ? response['uid'] : ''
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(other)}`)
  }
  const result: JsonObject = isJsonObject(response['result']) ? response['result'] : {}
  const status = textOf(result['status'])
  const message = textOf(result['message'])
  if (status !== 'Success') {
    if (message !== '') throw new Error(message)
    throw new Error(`response.result.status was '${status}', not 'Success'`)
  }
  const { convertedObjects } = response
  return Array.isArray(convertedObjects) ? convertedObjects : []
}

/**
 * Checks that it is the same object in another shape: kind, name, namespace and uid stay, and all
 * metadata except labels.
 */
function checked(
  answer: unknown,
  original: AnyObject,
  { apiVersion, subject, place }: { apiVersion: string; subject: string; place: string },
): AnyObject {
  const isSingle = place === 'returned invalid'
  const converted: JsonObject = isJsonObject(answer) ? answer : {}
  const [version, kind] = [textOf(converted['apiVersion']), textOf(converted['kind'])]
  const wrong = (why: string): StatusError =>
    refuse(subject, isSingle ? `${place} object at index 0: ${why}` : `${place}: ${why}`)
  if (version !== apiVersion) {
    throw wrong(`invalid groupVersion (expected ${apiVersion}, received ${version || '/'})`)
  }
  if (kind !== original.kind) {
    throw wrong(`invalid kind (expected ${original.kind}, received ${kind})`)
  }
  const metadata = isJsonObject(converted['metadata']) ? converted['metadata'] : undefined
  const changed = changedIdentity(original, metadata ?? {})
  if (changed !== undefined) {
    throw refuse(subject, `${isSingle ? `${place} object` : place}: ${changed}`)
  }
  try {
    const { apiVersion: _version, kind: _kind, metadata: _metadata, ...fields } = converted
    return { apiVersion, kind, metadata: restoredMetadata(original.metadata, metadata), ...fields }
  } catch (error) {
    const why = messageOf(error)
    const where = isSingle ? place : place.replace('converted object', 'metadata in object')
    throw refuse(subject, isSingle ? `${where} metadata: ${why}` : `${where}: ${why}`, error)
  }
}

function changedIdentity({ metadata }: AnyObject, converted: JsonObject): string | undefined {
  for (const [field, name] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [before, after] = [metadata[field] ?? '', textOf(converted[field])]
    if (before !== after) return `must have the same ${name}: ${before} != ${after}`
  }
  return undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function refuse(subject: string, why: string, cause?: unknown): StatusError {
  return unknownError(`conversion webhook for ${subject} ${why}`, cause)
}

/** Upstream has no reason for this: such a Status has none. */
function unknownError(message: string, cause?: unknown): StatusError {
  return new StatusError('Unknown', message, { code: 500, cause })
}
