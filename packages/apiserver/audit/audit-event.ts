import type { UserInfo } from '../contract/access.ts'
import type { ApiRequest } from '../contract/exchange.ts'
import type { RequestInfo } from '../contract/request-info.ts'
import type { AuditScope, AuditStage } from './audit-policy.ts'

export interface AuditedRequest {
  readonly auditId: string
  readonly request: ApiRequest
  readonly info: RequestInfo
  /** The requester, or undefined if it could not be determined. */
  readonly user: UserInfo | undefined
  /** The user that the requester impersonates, if any. */
  readonly impersonated: UserInfo | undefined
  readonly startedAtMs: number
}

/** The facts known about a request so far. They grow from stage to stage. */
export type AuditFacts = AuditedRequest & {
  readonly scope: AuditScope
  status?: number
  /** The reason why the handler itself gave no answer. */
  panic?: string
  requestObject?: unknown
  responseObject?: unknown
  annotations?: Record<string, string>
}

/** Formats one event as one line, like upstream's log backend. */
export function writeAuditEvent(facts: AuditFacts, stage: AuditStage, nowMs: number): string {
  const { request, scope, user, impersonated } = facts
  const isEnd = stage === 'ResponseComplete' || stage === 'Panic'
  const objects = isEnd ? objectsOf(facts) : {}
  const event = {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: scope.level,
    auditID: facts.auditId,
    stage,
    requestURI: request.target,
    verb: facts.info.verb,
    user: user ? userOf(user) : {},
    ...(impersonated ? { impersonatedUser: userOf(impersonated) } : {}),
    sourceIPs: sourcesOf(facts),
    ...(request.headers['user-agent'] ? { userAgent: request.headers['user-agent'] } : {}),
    ...referenceOf(facts),
    ...(facts.status === undefined ? {} : { responseStatus: statusOf(facts, facts.status) }),
    ...objects,
    requestReceivedTimestamp: microTime(facts.startedAtMs),
    stageTimestamp: microTime(nowMs),
    ...(facts.annotations ? { annotations: facts.annotations } : {}),
  }
  return `${JSON.stringify(event)}\n`
}

function userOf({ name, uid, groups, extra }: UserInfo) {
  return {
    username: name,
    ...(uid ? { uid } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  }
}

function sourcesOf({ request }: AuditFacts): string[] {
  const forwarded = (request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
  const own = request.peer.type === 'socket' ? request.peer.address : '127.0.0.1'
  const peer = own.replace(/^::ffff:/, '')
  return forwarded.includes(peer) ? forwarded : [...forwarded, peer]
}

function referenceOf({ info, requestObject }: AuditFacts) {
  if (!info.isResourceRequest) return {}
  const { resource, group, version } = info.resource
  const { name, namespace, uid, resourceVersion } = metadataOf(requestObject)
  const reference = {
    resource,
    namespace: info.namespace || namespace,
    name: info.name || name,
    uid,
    apiGroup: group,
    apiVersion: version,
    resourceVersion,
    subresource: info.subresource,
  }
  return { objectRef: Object.fromEntries(Object.entries(reference).filter(([, text]) => text)) }
}

function statusOf({ responseObject, panic }: AuditFacts, code: number) {
  if (panic !== undefined) {
    return { metadata: {}, status: 'Failure', message: panic, reason: 'InternalError', code }
  }
  const answer = recordOf(responseObject)
  if (answer?.kind !== 'Status') return { metadata: {}, code }
  const { kind: _kind, apiVersion: _version, ...status } = answer
  return { ...status, code }
}

function objectsOf({ scope, requestObject, responseObject }: AuditFacts) {
  const clean = (value: unknown): unknown =>
    scope.omitManagedFields ? withoutManagedFields(value) : value
  const withRequest = scope.level !== 'Metadata' && requestObject !== undefined
  const withResponse = scope.level === 'RequestResponse' && responseObject !== undefined
  return {
    ...(withRequest ? { requestObject: clean(requestObject) } : {}),
    ...(withResponse ? { responseObject: clean(responseObject) } : {}),
  }
}

/** Removes the managed fields of an object, and of each object in a list. */
function withoutManagedFields(value: unknown): unknown {
  const object = recordOf(value)
  if (!object) return value
  const { metadata, items } = object
  const known = recordOf(metadata)
  return {
    ...object,
    ...(known ? { metadata: { ...known, managedFields: undefined } } : {}),
    ...(Array.isArray(items) ? { items: items.map(withoutManagedFields) } : {}),
  }
}

function metadataOf(object: unknown): Record<string, string> {
  const metadata = recordOf(recordOf(object)?.metadata) ?? {}
  const texts = Object.entries(metadata).filter(([, value]) => typeof value === 'string')
  // Only texts are left.
  return Object.fromEntries(texts) as Record<string, string>
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  // Any other object is a record of unknown values.
  return value as Record<string, unknown>
}

/** metav1.MicroTime. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}
