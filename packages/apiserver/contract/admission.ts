import type { Span } from '@skerry/base'
import type {
  AnyObject,
  GroupVersionKind,
  GroupVersionResource,
  Kind,
  StatusCause,
} from '@skerry/api'
import type { UserInfo } from './access.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface AdmissionRequest {
  readonly operation: Operation
  readonly kind: Kind
  readonly resource: GroupVersionResource
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** The name in the request's path; empty where it has none, as for a POST. */
  readonly pathName: string
  /** A private copy that mutating plugins change in place; undefined on DELETE and CONNECT without body. */
  readonly object: AnyObject | undefined
  readonly oldObject: AnyObject | undefined
  /** What `object` is of: the kind, or a subresource's own, e.g. autoscaling/v1 Scale. */
  readonly objectKind: GroupVersionKind
  readonly versions: RequestVersions
  readonly user: UserInfo
  /** True for the server's own writes, which ask nobody outside: no webhook, no policy. */
  readonly isInternal: boolean
  readonly isDryRun: boolean
  /** The DeleteOptions, PodExecOptions, … where the operation has them. */
  readonly options: AnyObject | undefined
  /** Shown to the client in a Warning header. */
  readonly warn: (text: string) => void
  /** Into the request's audit event, where that is of the level at least; default Metadata. */
  readonly annotate: Annotate
  /** The request's span; absent where nothing is traced. */
  readonly trace?: Span
  readonly reinvocation: Reinvocation
  readonly signal: AbortSignal
}

export type Annotate = (key: string, value: string, level?: 'Metadata' | 'Request') => void

/** One resource as it is served in one group and version. */
export interface ServedResource {
  readonly resource: GroupVersionResource
  /** Of the request's subresource, where it has one. */
  readonly kind: GroupVersionKind
}

/** The same objects in other versions and groups. */
export interface RequestVersions {
  /** All that serve the request's subresource, without the request's own. */
  equivalents(): readonly ServedResource[]
  /** A copy in that version; the object itself where it is of that version. */
  convert(object: AnyObject, kind: GroupVersionKind): Promise<AnyObject>
  /**
   * An object that somebody changed, as a body of that kind would be decoded: types checked, unknown
   * fields dropped, defaults set. Throws StatusError BadRequest.
   */
  conform(object: AnyObject, kind: GroupVersionKind): AnyObject
  /** Any kind that the server serves. */
  findKind(apiVersion: string, kind: string): Kind | undefined
}

/**
 * Mutating plugins run a second time when one that others may not have seen changed the object. Each
 * plugin keeps here what it knows from the first round.
 */
export interface Reinvocation {
  readonly isSecond: boolean
  /** Set by a plugin whose change calls for the second round. */
  isWanted: boolean
  readonly notes: Map<string, unknown>
}

/**
 * Refusals are thrown as StatusError (Forbidden, Invalid, …). All mutating plugins run before all
 * validating ones, in the order of the table in default-plugins.ts.
 */
export interface AdmissionPlugin {
  /** Upstream's plugin name, e.g. NamespaceLifecycle. */
  readonly name: string
  /** Cheap and pure: does this plugin look at such a request at all? */
  readonly handles: (request: AdmissionRequest) => boolean
  readonly admit?: (request: AdmissionRequest) => Promise<void>
  readonly validate?: (request: AdmissionRequest) => Promise<void>
  readonly check?: AdmissionCheck
}

/**
 * What is wrong with an object that the server must be asked for. Upstream finds it where it validates
 * the kind, so that both are told in one list.
 */
export interface AdmissionCheck {
  /** Of what the kind's own validation finds. */
  readonly stands: 'before' | 'after'
  /** `own` is what the kind's own validation has found. */
  readonly causesOf: (
    request: AdmissionRequest,
    own: readonly StatusCause[],
  ) => Promise<readonly StatusCause[]>
}
