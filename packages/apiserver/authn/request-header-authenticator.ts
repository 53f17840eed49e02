import { X509Certificate } from 'node:crypto'
import type { Clock } from '@skerry/base'
import { decodePem, readClientCertificate } from '@skerry/pki'
import type { Authenticator, Credentials, UserInfo } from '../contract/access.ts'
import { unauthorized } from './token-authenticator.ts'

/** How a front proxy identifies itself and names the user it asks for. */
export interface RequestHeaderOptions {
  /** The authority of front proxies' certificates; PEM, read again for each unknown certificate. */
  readonly proxyAuthorityPem: () => string
  /** The authority of users' certificates. */
  readonly clientAuthorityPem: () => string
  /** The common names that may speak for others. If empty, every certificate of the authority may. */
  readonly allowedNames: readonly string[]
  /** The first of these headers that is present names the user. All names are in lower case. */
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

/** Upstream's names in clusters set up by kubeadm. */
export const requestHeaderDefaults = Object.freeze({
  allowedNames: Object.freeze(['front-proxy-client']),
  usernameHeaders: Object.freeze(['x-remote-user']),
  uidHeaders: Object.freeze(['x-remote-uid']),
  groupHeaders: Object.freeze(['x-remote-group']),
  extraHeaderPrefixes: Object.freeze(['x-remote-extra-']),
})

/**
 * Accepts the certificates of users and of front proxies on one port. TLS has verified that one of
 * the two authorities issued the chain; this decides which one. A front proxy's own certificate
 * names no user, and the headers of a user are never believed.
 */
export function withFrontProxies(
  usual: Authenticator,
  options: RequestHeaderOptions,
  clock: Clock,
): Authenticator {
  // A connection has one chain object, so it is judged once and forgotten with the connection.
  const known = new WeakMap<readonly Uint8Array[], Origin>()
  const authorities = createAuthorities()
  const originOf = (chain: readonly Uint8Array[]): Origin => {
    const seen = known.get(chain)
    if (seen) return seen
    const origin = judge(chain, options, authorities)
    known.set(chain, origin)
    return origin
  }
  return {
    async authenticate(credentials, signal) {
      const { clientCertificates: chain } = credentials
      if (chain.length === 0) return undefined
      const origin = originOf(chain)
      const user = isProxyNow(origin, clock.now()) ? userOf(credentials, options) : undefined
      if (user) return { user }
      if (origin.isClient) return usual.authenticate(credentials, signal)
      throw unauthorized(new Error('Cannot authenticate: the certificate is not a client of ours'))
    },
  }
}

interface Origin {
  readonly isProxy: boolean
  readonly isClient: boolean
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

function isProxyNow({ isProxy, notBeforeMs, notAfterMs }: Origin, nowMs: number): boolean {
  return isProxy && nowMs >= notBeforeMs && nowMs <= notAfterMs
}

/** Returns the certificates of a bundle. */
type Authorities = (bundle: string) => readonly X509Certificate[]

/** Caches parsed bundles: they change rarely, and thousands of agents may connect at a time. */
function createAuthorities(): Authorities {
  const read = new Map<string, readonly X509Certificate[]>()
  return (bundle) => {
    const found = read.get(bundle) ?? decodePem(bundle).map((pem) => new X509Certificate(pem))
    // There is one bundle of front proxies and one of clients; older ones are useless.
    if (!read.has(bundle) && read.size >= 2) read.clear()
    read.set(bundle, found)
    return found
  }
}

function judge(
  chain: readonly Uint8Array[],
  options: RequestHeaderOptions,
  authorities: Authorities,
): Origin {
  const leadsToOne = (bundle: string): boolean => leadsTo(chain, authorities(bundle))
  const leaf = readClientCertificate(chain[0] ?? new Uint8Array())
  const { allowedNames } = options
  const isAllowed = allowedNames.length === 0 || allowedNames.includes(leaf.commonName)
  const isForClients =
    leaf.extendedUsages.length === 0 ||
    leaf.extendedUsages.some((usage) => usage === 'clientAuth' || usage === 'any')
  return {
    isProxy: isAllowed && isForClients && leadsToOne(options.proxyAuthorityPem()),
    isClient: leadsToOne(options.clientAuthorityPem()),
    notBeforeMs: leaf.notBeforeMs,
    notAfterMs: leaf.notAfterMs,
  }
}

/** Returns true if one of the authorities signed a link of the chain, and each link signed the one before. */
function leadsTo(chain: readonly Uint8Array[], authorities: readonly X509Certificate[]): boolean {
  let before: X509Certificate | undefined
  for (const der of chain) {
    const certificate = new X509Certificate(der)
    if (before && !isSignedBy(before, certificate)) return false
    before = certificate
    if (authorities.some((authority) => isSignedBy(certificate, authority))) return true
  }
  return false
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function userOf(credentials: Credentials, options: RequestHeaderOptions): UserInfo | undefined {
  const fields = (credentials.fields?.() ?? Object.entries(credentials.headers)).map(
    ([name, value]) => [name.toLowerCase(), fromWire(value)] as const,
  )
  const valuesOf = (names: readonly string[]): string[] =>
    fields.filter(([name, value]) => names.includes(name) && value !== '').map(([, value]) => value)
  const [name] = valuesOf(options.usernameHeaders)
  if (name === undefined) return undefined
  const [uid] = valuesOf(options.uidHeaders)
  // The proxy's client may have chosen the keys, so `constructor` must be an ordinary key.
  const extra = new Map<string, string[]>()
  for (const [header, value] of fields) {
    const prefix = options.extraHeaderPrefixes.find((each) => header.startsWith(each))
    if (prefix === undefined) continue
    const key = unescapeKey(header.slice(prefix.length))
    extra.set(key, [...(extra.get(key) ?? []), value])
  }
  const groups = valuesOf(options.groupHeaders)
  return { name, groups, extra: Object.fromEntries(extra), ...(uid === undefined ? {} : { uid }) }
}

/** Decodes UTF-8 names: HTTP/1 headers are bytes. */
function fromWire(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8')
}

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    // The key is not percent-encoded, so it is used as it is.
    return key
  }
}
