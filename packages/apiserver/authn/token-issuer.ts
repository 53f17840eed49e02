import { createPrivateKey, randomUUID } from 'node:crypto'
import type { Clock } from '@skerry/base'
import { SignJWT } from 'jose'
import { serviceAccountUserName } from '../contract/user-names.ts'
import { toPrivateClaims, type ServiceAccountClaims } from './service-account-claims.ts'
import { readVerificationKey } from './service-account-keys.ts'

export interface TokenIssuerOptions {
  /** The `iss` of every token, a URL, e.g. https://kubernetes.default.svc.cluster.local. */
  readonly issuer: string
  readonly signingKeyPem: string
}

export type TokenRequestClaims = Omit<ServiceAccountClaims, 'id' | 'expiresAt' | 'notBefore'> & {
  /** The lifetime, in seconds from now on. */
  readonly lifetimeSeconds: number
}

export interface TokenIssuer {
  issue(claims: TokenRequestClaims): Promise<string>
}

/** Signs service account tokens, each with its own id. */
export function createTokenIssuer(options: TokenIssuerOptions, clock: Clock): TokenIssuer {
  const privateKey = createPrivateKey(options.signingKeyPem)
  const { id: kid, algorithm: alg } = readVerificationKey(options.signingKeyPem)
  return {
    issue({ lifetimeSeconds, ...request }) {
      const nowSeconds = Math.floor(clock.now() / 1000)
      const expiresAt = nowSeconds + lifetimeSeconds
      const claims = { ...request, expiresAt, notBefore: nowSeconds }
      return new SignJWT({ 'kubernetes.io': toPrivateClaims(claims) })
        .setProtectedHeader({ alg, kid })
        .setIssuer(options.issuer)
        .setSubject(serviceAccountUserName(request.namespace, request.serviceAccount.name))
        .setAudience([...request.audiences])
        .setIssuedAt(nowSeconds)
        .setNotBefore(nowSeconds)
        .setExpirationTime(expiresAt)
        .setJti(randomUUID())
        .sign(privateKey)
    },
  }
}
