import type { GroupVersionResource } from '@skerry/api'

/** A user (Kubernetes' user.Info). */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** The credentials of a caller before authentication. */
export interface Credentials {
  /** Lower-case names, one value each (joined as HTTP specifies). */
  readonly headers: Readonly<Record<string, string>>
  /** Returns every header field as received, for those that may occur many times. */
  readonly fields?: () => readonly (readonly [name: string, value: string])[]
  /** The client certificate chain in DER, leaf first. TLS verified it against the client CA. */
  readonly clientCertificates: readonly Uint8Array[]
  /** The requested path without the query: some paths are open to callers without credentials. */
  readonly path?: string
  /**
   * The address that the connection came from, as this server sees it. Omitted for callers in this
   * process.
   */
  readonly sourceAddress?: string
  /** True if an open request is checked again, which does not count as a use of its credentials. */
  readonly isRepeat?: boolean
}

/**
 * Resolves to undefined if the credentials are of another type. Throws StatusError Unauthorized if
 * they are bad.
 */
export interface Authenticator {
  authenticate(
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<AuthenticatedUser | undefined>
}

export interface AuthenticatedUser {
  readonly user: UserInfo
  /** The audiences that the token was issued for. Omitted for certificates. */
  readonly audiences?: readonly string[]
}

/** Describes a request for authorization (upstream's authorizer.Attributes). */
export interface Attributes {
  readonly user: UserInfo
  /**
   * get, list, watch, create, update, patch, delete, deletecollection, proxy, impersonate, …; the
   * lower-case HTTP method for non-resource paths.
   */
  readonly verb: string
  readonly isResourceRequest: boolean
  readonly resource?: GroupVersionResource
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  /** The whole path, for non-resource rules. */
  readonly path: string
  /** The selector as given; the node authorizer reads spec.nodeName from it. */
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export type Decision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** The error that kept an authorizer from deciding. It is reported if the request is not allowed. */
  readonly error?: Error
}

export interface Authorizer {
  authorize(attributes: Attributes): Promise<Decision>
}
