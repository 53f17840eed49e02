import type { Span } from '@skerry/base'
import type { AnyObject, Kind } from '@skerry/api'
import type { ReadYaml } from '@skerry/bodies'
import type { UserInfo } from '../contract/access.ts'
import type { Annotate } from '../contract/admission.ts'
import type { ApiRequest } from '../contract/exchange.ts'
import { customOffer, negotiate, objectOffer, wantsPretty, type Offer } from '../http/negotiate.ts'
import { readBody } from '../http/read-body.ts'
import type { RequestBodies } from '../http/request-bodies.ts'
import type { UnreadBytes } from '../http/unread-bytes.ts'
import type { RequestInfo } from '../contract/request-info.ts'
import { decodeProtobuf, protobufType } from '../protobuf/decode-object.ts'
import { decodeKindObject } from '../registry/decode.ts'
import { apiVersionOf, type KindReader } from '../registry/kind-reader.ts'
import type { ApiServerLimits } from '../limits-table.ts'
import type { RegistryDeps, RequestDeps, RequestScope } from '../registry/request-scope.ts'
import { viewOf, type View } from './represent.ts'
import { writeOptionsObject, type WriteOptions } from './request-options.ts'
import type { WatchCount } from './watch-handler.ts'

/** An authorized request for a served kind. */
export interface ResourceCall {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly reader: KindReader
  readonly user: UserInfo
  readonly warn: (text: string) => void
  /** Throws Forbidden unless the user may also use this verb. */
  readonly requireVerb: (verb: string) => Promise<void>
  /** Adds an annotation to the request's audit event. Omitted if none is written. */
  readonly annotate?: Annotate
  /** The request's span. Omitted if nothing is traced. */
  readonly trace?: Span
  readonly signal: AbortSignal
}

export type HandlerDeps = RegistryDeps & {
  readonly watchCount: WatchCount
  readonly unread: UnreadBytes
  readonly bodies: RequestBodies
}

export function scopeOf(call: ResourceCall, options?: WriteOptions): RequestScope {
  const { info, reader, user, warn, requireVerb, annotate, trace, signal } = call
  return {
    reader,
    namespace: reader.kind.isNamespaced ? info.namespace : '',
    name: info.name,
    subresource: info.subresource,
    user,
    isDryRun: options?.isDryRun ?? false,
    fieldManager: options?.fieldManager ?? '',
    fieldValidation: options?.fieldValidation ?? 'Ignore',
    warn,
    requireVerb,
    isReadHere: call.request.peer.type === 'process',
    pace: call.request.held,
    ...(annotate ? { annotate } : {}),
    ...(trace ? { trace } : {}),
    signal,
    options: options && writeOptionsObject(info),
  }
}

export function viewFor(call: ResourceCall, deps: RequestDeps): View {
  const { info, request, reader } = call
  const { headers } = request
  const isPretty = wantsPretty(info.query, headers['user-agent'])
  return viewOf(reader, negotiate(headers['accept'], isPretty, offerOf(call)), {
    query: info.query,
    nowMs: deps.clock.now(),
    chunkBytes: deps.limits.chunkBytes,
    clock: deps.clock,
    signal: call.signal,
  })
}

function offerOf({ info, reader }: ResourceCall): Offer {
  const offer = reader.kind.isCustom ? customOffer : objectOffer
  if (info.verb === 'watch') return { ...offer, of: 'watch' }
  return info.verb === 'list' ? { ...offer, of: 'list' } : offer
}

export async function decodeBodyOf(
  call: ResourceCall,
  options: WriteOptions,
  deps: RequestDeps,
): Promise<AnyObject> {
  const { reader, warn } = call
  const { kind } = reader
  const sentMax = bodyBytesMaxOf(kind, deps.limits)
  const { bytes, contentType } = await readObjectBody(call, kind.schemaName, deps, sentMax)
  const { fieldValidation } = options
  const bytesMax = Math.max(deps.limits.bodyBytesMax, bytes.length)
  const isRegistered = registeredIn(deps)
  return decodeKindObject({
    kind,
    bytes,
    contentType,
    fieldValidation,
    bytesMax,
    readYaml: readYamlOf(call, deps),
    warn,
    isRegistered,
    pace: call.request.held,
  })
}

const selfReviews: ReadonlySet<string> = new Set([
  'selfsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
])

function bodyBytesMaxOf({ resource, group }: Kind, limits: ApiServerLimits): number {
  const isSelfReview = selfReviews.has(`${resource}.${group}`)
  return isSelfReview
    ? Math.min(limits.selfReviewBytesMax, limits.bodyBytesMax)
    : limits.bodyBytesMax
}

/** Limits how much one user's texts may cost the others. */
export function readYamlOf(
  { request, user, signal }: Pick<ResourceCall, 'request' | 'user' | 'signal'>,
  { yaml }: Pick<RegistryDeps, 'yaml'>,
): ReadYaml {
  return async (text) => {
    const read = await yaml.read(text, user.name, signal)
    request.onYamlRead?.(read.value)
    return read
  }
}

/** Called only if a body names something other than its path. */
export function registeredIn({ kinds }: Pick<RegistryDeps, 'kinds'>) {
  return (apiVersion: string, kind: string): boolean =>
    kinds.all().some((each) => isOf(each, apiVersion, kind))
}

function isOf(kind: Kind, apiVersion: string, name: string): boolean {
  if (apiVersion !== apiVersionOf(kind.group, kind.version)) return false
  return name === kind.kind || kind.subresources.some((each) => each.kind.kind === name)
}

/** The body. Protobuf is converted to JSON, which all later code uses. */
export async function readObjectBody(
  { request }: Pick<ResourceCall, 'request'>,
  schemaName: string,
  deps: RequestDeps,
  bytesMax = deps.limits.bodyBytesMax,
): Promise<{ bytes: Uint8Array; contentType: string }> {
  const bytes = await readBody(request.body, bytesMax, request.held)
  const contentType = request.headers['content-type'] ?? ''
  if (!contentType.startsWith(protobufType) || bytes.length === 0) return { bytes, contentType }
  const value = await decodeProtobuf(bytes, schemaName, schemaName.split('.').at(-1))
  await request.held?.pause()
  return { bytes: utf8.encode(JSON.stringify(value)), contentType: 'application/json' }
}

const utf8 = new TextEncoder()
