import { createHash } from 'node:crypto'
import type { GroupResource } from '@skerry/api'
import type { Clock, Logger } from '@skerry/base'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import type { AuthenticatedUser, UserInfo } from '../contract/access.ts'
import type { Objects } from '../contract/objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { BoundedCache } from './bounded-cache.ts'
import { useLegacyToken } from './legacy-token-use.ts'
import {
  readClaims,
  type BoundReference,
  type ServiceAccountClaims,
} from './service-account-claims.ts'
import { readVerificationKey, type VerificationKey } from './service-account-keys.ts'
import { TokenError, type TokenAuthenticator } from './token-authenticator.ts'
import { extraKeys, serviceAccountGroups, serviceAccountUserName } from '../contract/user-names.ts'
import { apiServerBounds } from '../limits-table.ts'

export interface ServiceAccountAuthenticatorOptions {
  /** Tokens of any of these issuers are ours; the first one signs. */
  readonly issuers: readonly string[]
  /** PEM, public or private; the signing key's own half belongs among them. */
  readonly keyPems: readonly string[]
  readonly objects: Objects
  readonly clock: Clock
  readonly log: Logger
}

export interface ServiceAccountVerifierOptions extends Pick<
  ServiceAccountAuthenticatorOptions,
  'issuers' | 'keyPems' | 'clock'
> {
  /** Throws TokenError if the account or an object that the token is bound to is gone. */
  readonly checkBound: (claims: ServiceAccountClaims, token: string) => Promise<void> | void
}

const { leewaySeconds, verifiedTokens } = apiServerBounds.serviceAccountAuthenticator

/**
 * Authenticates service account tokens (JWT). The objects that a token is bound to are checked
 * against live objects on every use, so that a deleted pod's token expires with the pod.
 */
export function createServiceAccountAuthenticator(
  options: ServiceAccountAuthenticatorOptions,
): TokenAuthenticator {
  return createServiceAccountVerifier({
    ...options,
    async checkBound(claims, token) {
      checkBindings(claims, options.objects, options.clock.now())
      await checkSecret(token, claims, options)
    },
  })
}

/**
 * Does the same for a server that has the keys, and knows by other means what tokens are bound to. The signature is
 * verified once per token, the dates on every use.
 */
export function createServiceAccountVerifier(
  options: ServiceAccountVerifierOptions,
): TokenAuthenticator {
  const keys = options.keyPems.map(readVerificationKey)
  const verified = new BoundedCache<ServiceAccountClaims>(verifiedTokens, options.clock)
  const verify = async (token: string): Promise<ServiceAccountClaims> => {
    const cacheKey = createHash('sha256').update(token).digest('base64')
    const known = verified.get(cacheKey)
    if (known) return known
    const claims = await verifySignature(token, keys, options.issuers)
    verified.set(cacheKey, claims)
    return claims
  }
  return {
    async authenticateToken(token, audiences) {
      if (!isOurs(token, options.issuers)) return undefined
      const claims = await verify(token)
      const shared = claims.audiences.filter((audience) => audiences.includes(audience))
      if (shared.length === 0) {
        throw new TokenError(
          `token audiences ${quoteAll(claims.audiences)} is invalid for the target audiences ${quoteAll(audiences)}`,
        )
      }
      checkDates(claims, options.clock.now())
      await options.checkBound(claims, token)
      return { user: userOfClaims(claims), audiences: shared } satisfies AuthenticatedUser
    },
  }
}

function isOurs(token: string, issuers: readonly string[]): boolean {
  if (token.split('.').length !== 3) return false
  try {
    const { iss } = decodeJwt(token)
    return iss !== undefined && issuers.includes(iss)
  } catch {
    // This is not a JWT at all, so it is another type of token.
    return false
  }
}

async function verifySignature(
  token: string,
  keys: readonly VerificationKey[],
  issuers: readonly string[],
): Promise<ServiceAccountClaims> {
  const { kid } = decodeProtectedHeader(token)
  const candidates = keys.filter((key) => kid === undefined || key.id === kid)
  for (const { publicKey, algorithm } of candidates) {
    try {
      const { payload } = await jwtVerify(token, publicKey, {
        algorithms: [algorithm],
        issuer: [...issuers],
        // Dates are checked on each use with our own clock.
        currentDate: new Date(0),
        clockTolerance: Number.MAX_SAFE_INTEGER,
      })
      const claims = readClaims(payload)
      if (claims) return claims
      throw new TokenError('service account token claims could not be validated')
    } catch (error) {
      if (error instanceof TokenError) throw error
      // Another key with the same id may fit; a final failure is reported below.
    }
  }
  throw new TokenError('invalid signature, no keys found')
}

/** Throws TokenError outside the dates of the token. */
export function checkDates(claims: ServiceAccountClaims, nowMs: number): void {
  const nowSeconds = nowMs / 1000
  if (nowSeconds - leewaySeconds > claims.expiresAt) {
    throw new TokenError('service account token has expired')
  }
  if (nowSeconds + leewaySeconds < claims.notBefore) {
    throw new TokenError('service account token is not valid yet')
  }
}

/** Throws TokenError if the account is gone, or an object that the token is bound to. */
export function checkBindings(claims: ServiceAccountClaims, objects: Objects, nowMs: number): void {
  const { namespace, serviceAccount, pod, secret, node } = claims
  const check = (resource: GroupResource, reference: BoundReference, inNamespace: string): void => {
    const found = objects.get(resource, inNamespace, reference.name)
    if (found?.metadata.uid === reference.uid) {
      const { deletionTimestamp } = found.metadata
      if (deletionTimestamp === undefined) return
      if (Date.parse(deletionTimestamp) >= nowMs - leewaySeconds * 1000) return
    }
    const isAccount = resource === wellKnown.serviceAccounts
    throw new TokenError(
      isAccount
        ? `service account ${namespace}/${reference.name} has been deleted`
        : 'service account token has been invalidated',
    )
  }
  check(wellKnown.serviceAccounts, serviceAccount, namespace)
  if (secret) check(wellKnown.secrets, secret, namespace)
  if (pod) check(wellKnown.pods, pod, namespace)
  // With a pod, the node is information only: it may be deleted before the pod.
  else if (node) check(wellKnown.nodes, node, '')
}

/** A token inside the secret that it is bound to is tracked. */
async function checkSecret(
  token: string,
  { namespace, serviceAccount, secret: bound }: ServiceAccountClaims,
  options: ServiceAccountAuthenticatorOptions,
): Promise<void> {
  const secret = bound && options.objects.get(wellKnown.secrets, namespace, bound.name)
  if (secret) await useLegacyToken({ token, account: serviceAccount.name, secret }, options)
}

export function userOfClaims(claims: ServiceAccountClaims): UserInfo {
  const { namespace, serviceAccount, pod, node, id } = claims
  const extra: Record<string, string[]> = {}
  if (id !== undefined) extra[extraKeys.credentialId] = [`JTI=${id}`]
  if (pod) {
    extra[extraKeys.podName] = [pod.name]
    extra[extraKeys.podUid] = [pod.uid]
  }
  if (node) {
    extra[extraKeys.nodeName] = [node.name]
    if (node.uid !== '') extra[extraKeys.nodeUid] = [node.uid]
  }
  return {
    name: serviceAccountUserName(namespace, serviceAccount.name),
    uid: serviceAccount.uid,
    groups: serviceAccountGroups(namespace),
    extra,
  }
}

function quoteAll(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`
}
