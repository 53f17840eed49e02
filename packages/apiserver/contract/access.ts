import type { GroupVersionResource } from '@skerry/api'

/** Who asks. Kubernetes' user.Info. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** What identifies a caller before authentication. */
export interface Credentials {
  /** Lower-case names, one value each (joined as HTTP says). */
  readonly headers: Readonly<Record<string, string>>
  /** Every field as it came, for those that may come many times. */
  readonly fields?: () => readonly (readonly [name: string, value: string])[]
  /** DER of the client certificate chain, leaf first; TLS verified it against the client CA. */
  readonly clientCertificates: readonly Uint8Array[]
  /** What is asked for, without the query: some paths are open to callers without credentials. */
  readonly path?: string
  /** From where the connection came, as this server sees it; absent: from this process. */
  readonly sourceAddress?: string
}

/** Resolves undefined when the credentials are not of its sort; throws StatusError Unauthorized when they are and are bad. */
export interface Authenticator {
  authenticate(
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<AuthenticatedUser | undefined>
}

export interface AuthenticatedUser {
  readonly user: UserInfo
  /** Audiences the token was meant for; absent for certificates. */
  readonly audiences?: readonly string[]
}

/** authorizer.Attributes: what is asked, in Kubernetes' words. */
export interface Attributes {
  readonly user: UserInfo
  /** get, list, watch, create, update, patch, delete, deletecollection, proxy, impersonate, …; lower-case HTTP method for non-resource paths. */
  readonly verb: string
  readonly isResourceRequest: boolean
  readonly resource?: GroupVersionResource
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  /** The whole path, for non-resource rules. */
  readonly path: string
  /** As given; the node authorizer reads spec.nodeName from it. */
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export type Decision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** What kept an authorizer from deciding; whoever is not allowed then hears of it. */
  readonly error?: Error
}

export interface Authorizer {
  authorize(attributes: Attributes): Promise<Decision>
}
