import type { Secret } from '@skerry/api'

/** Returns a field of a Secret as text; empty if it is missing. */
export function secretText(secret: Secret, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8')
}

/** Returns the groups of a token's bearer, sorted, or undefined if the secret names a forbidden one. */
export function bootstrapGroups(secret: Secret): string[] | undefined {
  const named = secretText(secret, 'auth-extra-groups')
  const extra = named === '' ? [] : named.split(',')
  const isAllowed = (group: string): boolean =>
    /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/.test(group)
  if (!extra.every(isAllowed)) return undefined
  return [...new Set(['system:bootstrappers', ...extra])].sort()
}

/** An expiration that cannot be read counts as passed. */
export function hasExpired(secret: Secret, nowMs: number): boolean {
  const text = secretText(secret, 'expiration')
  if (text === '') return false
  const expiresAtMs = Date.parse(text)
  return Number.isNaN(expiresAtMs) || expiresAtMs <= nowMs
}
