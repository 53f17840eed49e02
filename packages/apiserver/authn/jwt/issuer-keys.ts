import { get } from 'node:https'
import type { Clock } from '@skerry/base'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { TokenError } from '../token-authenticator.ts'

export interface IssuerKeysOptions {
  readonly issuerUrl: string
  /** Where the discovery document is; default: below the issuer. */
  readonly discoveryUrl?: string | undefined
  /** PEM; default: the authorities of the system. */
  readonly authorityPem?: string | undefined
}

/** Documents of an issuer are small. */
const documentBytesMax = 1024 * 1024
const requestTimeoutMs = 10_000
/** An unknown key makes us look again, but not more often than this. */
const refreshMsMin = 10_000

/**
 * The keys that an issuer signs with, found by OIDC discovery when the first token comes and again
 * when a token names a key that is not among them.
 */
export function createIssuerKeys(options: IssuerKeysOptions, clock: Clock): JWTVerifyGetKey {
  let current: JWTVerifyGetKey | undefined
  let fetching: Promise<void> | undefined
  let fetchedMs = -Infinity
  const refresh = async (): Promise<void> => {
    fetching ??= fetchKeys(options)
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

async function fetchKeys(options: IssuerKeysOptions): Promise<JSONWebKeySet> {
  const { issuerUrl, authorityPem } = options
  const discoveryUrl =
    options.discoveryUrl ?? `${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { issuer, jwks_uri: keysUrl } = await fetchJson(discoveryUrl, authorityPem)
  if (issuer !== issuerUrl) {
    throw new TokenError(
      `oidc: issuer did not match the issuer returned by provider, expected ${JSON.stringify(issuerUrl)} got ${JSON.stringify(issuer)}`,
    )
  }
  if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://')) {
    throw new TokenError('oidc: provider did not return JWKS URL')
  }
  const { keys } = await fetchJson(keysUrl, authorityPem)
  if (!Array.isArray(keys)) throw new TokenError('oidc: the key set has no keys')
  // jose checks each key when it is used.
  return { keys } as JSONWebKeySet
}

function fetchJson(url: string, ca: string | undefined): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const request = get(url, { ...(ca ? { ca } : {}), timeout: requestTimeoutMs }, (response) => {
      const pieces: Buffer[] = []
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > documentBytesMax) request.destroy(new TokenError(`oidc: ${url} is too long`))
        else pieces.push(piece)
      })
      response.once('error', reject)
      response.once('end', () => {
        if (response.statusCode !== 200) {
          return reject(new TokenError(`oidc: ${url} answered ${response.statusCode}`))
        }
        try {
          resolve(jsonRecord(Buffer.concat(pieces).toString('utf8')))
        } catch (error) {
          reject(error)
        }
      })
    })
    request.once('timeout', () => request.destroy(new TokenError(`oidc: ${url} did not answer`)))
    request.once('error', reject)
  })
}

function jsonRecord(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  // Any object is a record of unknown values.
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new TokenError('oidc: the answer is no object')
}
