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
  /** The name in the request's path. It is empty if there is none, as for a POST. */
  readonly pathName: string
  /**
   * A private copy that mutating plugins change in place. Undefined for DELETE, and for CONNECT
   * without a body.
   */
  readonly object: AnyObject | undefined
  readonly oldObject: AnyObject | undefined
  /** The kind of `object`: the resource's kind or its subresource's, e.g. autoscaling/v1 Scale. */
  readonly objectKind: GroupVersionKind
  readonly versions: RequestVersions
  readonly user: UserInfo
  /** True for the server's own writes, which skip webhooks and policies. */
  readonly isInternal: boolean
  readonly isDryRun: boolean
  /** The DeleteOptions, PodExecOptions, … of operations that have them. */
  readonly options: AnyObject | undefined
  /** Shown to the client in a Warning header. */
  readonly warn: (text: string) => void
  /** Adds an annotation to the request's audit event, if that has at least this level. Default: Metadata. */
  readonly annotate: Annotate
  /** The request's span. Omitted if nothing is traced. */
  readonly trace?: Span
  readonly reinvocation: Reinvocation
  readonly signal: AbortSignal
}

export type Annotate = (key: string, value: string, level?: 'Metadata' | 'Request') => void

/** One resource as it is served in one group and version. */
export interface ServedResource {
  readonly resource: GroupVersionResource
  /** The kind of the request's subresource, if it has one; otherwise the resource's kind. */
  readonly kind: GroupVersionKind
}

/** Finds and converts the same objects in other versions and groups. */
export interface RequestVersions {
  /** Returns all others that serve the request's subresource, without the request's own. */
  equivalents(): readonly ServedResource[]
  /** Returns a copy in that version, or the object itself if it has that version. */
  convert(object: AnyObject, kind: GroupVersionKind): Promise<AnyObject>
  /**
   * Decodes a changed object like a body of that kind: checks types, drops unknown fields, sets
   * defaults. Throws StatusError BadRequest.
   */
  conform(object: AnyObject, kind: GroupVersionKind): AnyObject
  /** Finds any kind that the server serves. */
  findKind(apiVersion: string, kind: string): Kind | undefined
}

/**
 * Mutating plugins run a second time if a plugin changed the object after others had seen it. Each
 * plugin keeps its notes of the first round here.
 */
export interface Reinvocation {
  readonly isSecond: boolean
  /** Set by a plugin whose change requires the second round. */
  isWanted: boolean
  readonly notes: Map<string, unknown>
}

/**
 * A plugin refuses a request by throwing StatusError (Forbidden, Invalid, …). All mutating plugins
 * run before all validating ones, in the order of the table in default-plugins.ts.
 */
export interface AdmissionPlugin {
  /** Upstream's plugin name, e.g. NamespaceLifecycle. */
  readonly name: string
  /** Returns true if the plugin handles such a request. Must be cheap and pure. */
  readonly handles: (request: AdmissionRequest) => boolean
  readonly admit?: (request: AdmissionRequest) => Promise<void>
  readonly validate?: (request: AdmissionRequest) => Promise<void>
  readonly check?: AdmissionCheck
}

/**
 * Finds errors of an object that only the server can find. Upstream finds them while validating the
 * kind, so both are reported in one list.
 */
export interface AdmissionCheck {
  /** The position of these errors relative to those of the kind's own validation. */
  readonly stands: 'before' | 'after'
  /** Returns the errors. `own` lists those of the kind's own validation. */
  readonly causesOf: (
    request: AdmissionRequest,
    own: readonly StatusCause[],
  ) => Promise<readonly StatusCause[]>
}
