import { createHash, timingSafeEqual } from 'node:crypto'
import {
  bootstrapNamespace,
  bootstrapSecretName,
  bootstrapSecretType,
  parseBootstrapToken,
  type Secret,
} from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import { getTyped } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { bootstrapGroups, hasExpired, secretText } from './bootstrap-token.ts'
import type { TokenAuthenticator } from './token-authenticator.ts'

/**
 * Authenticates bootstrap tokens, which are Secrets in kube-system and let a new node request its
 * certificate. A token that exists but may not be used is treated like a missing one.
 */
export function createBootstrapTokenAuthenticator(
  objects: Objects,
  clock: Clock,
): TokenAuthenticator {
  return {
    async authenticateToken(text, audiences) {
      const token = parseBootstrapToken(text)
      if (!token) return undefined
      const secret = getTyped<Secret>(objects, wellKnown.secrets, {
        namespace: bootstrapNamespace,
        name: bootstrapSecretName(token.id),
      })
      if (!secret || !isUsable(secret, token.id, clock.now())) return undefined
      if (!isSameText(secretText(secret, 'token-secret'), token.secret)) return undefined
      const groups = bootstrapGroups(secret)
      if (!groups) return undefined
      return { user: { name: `system:bootstrap:${token.id}`, groups, extra: {} }, audiences }
    },
  }
}

function isUsable(secret: Secret, id: string, nowMs: number): boolean {
  return (
    secret.metadata.deletionTimestamp === undefined &&
    secret.type === bootstrapSecretType &&
    secretText(secret, 'token-id') === id &&
    secretText(secret, 'usage-bootstrap-authentication') === 'true' &&
    !hasExpired(secret, nowMs)
  )
}

/** Compares digests, so that the time it takes reveals neither length nor content. */
function isSameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
