import type { AnyObject, GroupVersionResource, Kind } from '@skerry/api'
import type { UserInfo } from './access.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface AdmissionRequest {
  readonly operation: Operation
  readonly kind: Kind
  readonly resource: GroupVersionResource
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** A private copy that mutating plugins change in place; undefined on DELETE and CONNECT without body. */
  readonly object: AnyObject | undefined
  readonly oldObject: AnyObject | undefined
  readonly user: UserInfo
  readonly isDryRun: boolean
  /** The DeleteOptions, PodExecOptions, … where the operation has them. */
  readonly options: AnyObject | undefined
  /** Shown to the client in a Warning header. */
  readonly warn: (text: string) => void
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
}
