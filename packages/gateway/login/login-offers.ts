import { StatusError, isJsonObject } from '@skerry/api'
import type { Authorizer, Route } from '@skerry/apiserver'

export const loginOffersPath = '/hub/v1/login'

/** One way to log in: a public client of an OpenID Connect issuer whose tokens the hub accepts. */
export interface LoginOffer {
  readonly issuerUrl: string
  readonly clientId: string
  /** The scopes to request in addition to `openid`. */
  readonly scopes: readonly string[]
  /** The issuer's certificate authority, as PEM. If omitted, the authorities of the user's system. */
  readonly certificateAuthority?: string
}

/**
 * The answer to GET of that path. It is public, because users have no credentials before they log in, and
 * holds no secret.
 */
export interface LoginOffers {
  readonly issuers: readonly LoginOffer[]
}

export function loginOffersRoute(offers: () => readonly LoginOffer[]): Route {
  return {
    prefix: loginOffersPath,
    matches: ({ path }) => path === loginOffersPath,
    async serve({ info }) {
      if (info.method !== 'GET') {
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
      }
      const answer: LoginOffers = { issuers: offers() }
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(`${JSON.stringify(answer)}\n`),
      }
    },
  }
}

/** Allows everybody to read that one path. */
export const loginOffersAuthorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ isResourceRequest, path, verb }) {
    const isAsked = !isResourceRequest && verb === 'get' && path === loginOffersPath
    return { verdict: isAsked ? 'allow' : 'no-opinion', reason: '' }
  },
})

/** Parses a hub's answer. Returns undefined if it is not such a list; issuers without TLS are rejected. */
export function readLoginOffers(text: string): LoginOffer[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Another server's page.
    return undefined
  }
  const issuers = isJsonObject(value) ? value['issuers'] : undefined
  if (!Array.isArray(issuers)) return undefined
  const offers = issuers.map(readOffer)
  return offers.every((each) => each !== undefined) ? offers : undefined
}

function readOffer(value: unknown): LoginOffer | undefined {
  if (!isJsonObject(value)) return undefined
  const { issuerUrl, clientId, scopes, certificateAuthority } = value
  if (typeof issuerUrl !== 'string' || !/^https:\/\/[^\s]+$/.test(issuerUrl)) return undefined
  if (typeof clientId !== 'string' || clientId === '') return undefined
  if (!Array.isArray(scopes) || !scopes.every((each) => typeof each === 'string')) return undefined
  const ca = typeof certificateAuthority === 'string' ? { certificateAuthority } : {}
  return { issuerUrl, clientId, scopes, ...ca }
}
