import { request } from 'node:https'
import { askPeer, messageOf, type Clock } from '@skerry/base'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { TokenError } from '../token-authenticator.ts'
import { apiServerBounds } from '../../limits-table.ts'

export interface IssuerKeysOptions {
  readonly issuerUrl: string
  /** The URL of the discovery document. Default: below the issuer. */
  readonly discoveryUrl?: string | undefined
  /** PEM. Default: the system's authorities. */
  readonly authorityPem?: string | undefined
}

const { documentBytesMax, requestTimeoutMs, refreshMsMin } = apiServerBounds.issuerKeys

/**
 * Returns the keys that an issuer signs with. OIDC discovery fetches them with the first token, and
 * again if a token names an unknown key.
 */
export function createIssuerKeys(options: IssuerKeysOptions, clock: Clock): JWTVerifyGetKey {
  let current: JWTVerifyGetKey | undefined
  let fetching: Promise<void> | undefined
  let fetchedMs = -Infinity
  const refresh = async (): Promise<void> => {
    fetching ??= fetchKeys(options, clock)
      .then((keys) => void (current = createLocalJWKSet(keys)))
      .finally(() => {
        fetchedMs = clock.monotonicMs()
        fetching = undefined
      })
    await fetching
  }
  const isRefreshable = (): boolean =>
    fetching !== undefined || clock.monotonicMs() - fetchedMs >= refreshMsMin
  return async (header, token) => {
    if (!current) {
      if (!isRefreshable()) throw notInitialized(options)
      await refresh().catch((error: unknown) => {
        throw notInitialized(options, error)
      })
    }
    const keys = current
    if (!keys) throw notInitialized(options)
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isRefreshable()) throw error
      await refresh()
      return (current ?? keys)(header, token)
    }
  }
}

function notInitialized({ issuerUrl }: IssuerKeysOptions, cause?: unknown): TokenError {
  return new TokenError(
    `oidc: authenticator for issuer ${JSON.stringify(issuerUrl)} is not initialized`,
    { cause },
  )
}

async function fetchKeys(options: IssuerKeysOptions, clock: Clock): Promise<JSONWebKeySet> {
  const { issuerUrl, authorityPem } = options
  const discoveryUrl =
    options.discoveryUrl ?? `${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`
  const from = { authorityPem, clock }
  const { issuer, jwks_uri: keysUrl } = await fetchJson(discoveryUrl, from)
  if (issuer !== issuerUrl) {
    throw new TokenError(
      `oidc: issuer did not match the issuer returned by provider, expected ${JSON.stringify(issuerUrl)} got ${JSON.stringify(issuer)}`,
    )
  }
  if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://')) {
    throw new TokenError('oidc: provider did not return JWKS URL')
  }
  const { keys } = await fetchJson(keysUrl, from)
  if (!Array.isArray(keys)) throw new TokenError('oidc: the key set has no keys')
  // jose checks each key when it is used.
  return { keys } as JSONWebKeySet
}

async function fetchJson(
  url: string,
  { authorityPem: ca, clock }: { authorityPem: string | undefined; clock: Clock },
): Promise<Record<string, unknown>> {
  const late = new AbortController()
  using _timer = clock.setTimer(requestTimeoutMs, () => late.abort())
  // Requests are too rare for kept-alive connections.
  const options = { agent: false, ...(ca ? { ca } : {}), signal: late.signal } as const
  try {
    const { status, bytes } = await askPeer({
      peer: `the issuer at ${url}`,
      request: () => request(url, options),
      bytesMax: documentBytesMax,
    })
    if (status !== 200) throw new TokenError(`oidc: ${url} answered ${status}`)
    return jsonRecord(bytes.toString('utf8'))
  } catch (error) {
    if (error instanceof TokenError) throw error
    const why = late.signal.aborted ? '' : `: ${messageOf(error)}`
    throw new TokenError(`oidc: ${url} did not answer${why}`, { cause: error })
  }
}

function jsonRecord(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  // Any object is a record of unknown values.
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new TokenError('oidc: the answer is not an object')
}
