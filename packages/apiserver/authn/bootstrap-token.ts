import type { Secret } from '@skerry/api'

/** A field of a Secret as text; empty when it is not there. */
export function secretText(secret: Secret, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8')
}

/** The groups that a token's bearer gets, sorted; undefined when the secret names a forbidden one. */
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
