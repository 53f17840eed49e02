import { messageOf, type Clock } from '@skerry/base'
import { decodeJwt, jwtVerify, type JWTPayload } from 'jose'
import { TokenError, type TokenAuthenticator } from '../token-authenticator.ts'
import type { JwtIssuerConfig } from './authentication-config.ts'
import { createIssuerKeys } from './issuer-keys.ts'
import { createClaimMapper, type ClaimMapper } from './map-claims.ts'

/**
 * The algorithms an issuer may sign with if the configuration names none. `none` and shared secrets
 * are never allowed.
 */
const algorithmsDefault = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
]

interface Issuer {
  readonly audiences: readonly string[]
  readonly verify: (token: string) => Promise<JWTPayload>
  readonly mapClaims: ClaimMapper
}

/**
 * Authenticates users of OpenID Connect issuers. Tokens of other issuers are left to other
 * authenticators.
 */
export function createJwtAuthenticator(
  configs: readonly JwtIssuerConfig[],
  clock: Clock,
): TokenAuthenticator {
  const issuers = new Map(
    configs.map((config): [string, Issuer] => [config.issuer?.url ?? '', issuerOf(config, clock)]),
  )
  return {
    async authenticateToken(token, audiences) {
      const issuer = issuers.get(issuerNamed(token))
      if (!issuer) return undefined
      const claims = await issuer.verify(token)
      const named = [claims.aud ?? []].flat()
      if (!issuer.audiences.some((audience) => named.includes(audience))) {
        throw new TokenError(
          `oidc: expected audience in ${JSON.stringify(issuer.audiences)} got ${JSON.stringify(named)}`,
        )
      }
      return { user: issuer.mapClaims(claims), audiences }
    },
  }
}

function issuerOf(config: JwtIssuerConfig, clock: Clock): Issuer {
  const { issuer: { url = '', audiences = [], discoveryURL, certificateAuthority } = {} } = config
  const keys = createIssuerKeys(
    { issuerUrl: url, discoveryUrl: discoveryURL, authorityPem: certificateAuthority },
    clock,
  )
  const algorithms = [...(config.signingAlgorithms ?? algorithmsDefault)]
  return {
    audiences,
    mapClaims: createClaimMapper(config),
    async verify(token) {
      try {
        const options = { issuer: url, algorithms, currentDate: new Date(clock.now()) }
        const { payload } = await jwtVerify(token, keys, { ...options, requiredClaims: ['exp'] })
        return payload
      } catch (error) {
        if (error instanceof TokenError) throw error
        const reason = messageOf(error)
        throw new TokenError(`oidc: verify token: ${reason}`, { cause: error })
      }
    },
  }
}

/** Returns the issuer that the token claims, before anything is verified. */
function issuerNamed(token: string): string {
  try {
    return decodeJwt(token).iss ?? ''
  } catch {
    // This is not a JSON Web Token.
    return ''
  }
}
