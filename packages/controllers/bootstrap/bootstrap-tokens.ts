import { bootstrapNamespace, bootstrapSecretType, type Secret } from '@skerry/api'
import { resources } from '@skerry/client'
import { selected } from '@skerry/controller-runtime'

/** Selects bootstrap tokens, which are valid only in kube-system. */
export const bootstrapTokens = selected(resources.secrets, {
  fieldSelector: `type=${bootstrapSecretType},metadata.namespace=${bootstrapNamespace}`,
})

/**
 * Returns the wall time of expiry, or undefined for tokens without one. An unreadable date counts
 * as expired.
 */
export function expiryMs(secret: Secret): number | undefined {
  const text = textOf(secret, 'expiration')
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? 0 : ms
}

export function textOf({ data }: Secret, key: string): string | undefined {
  const text = data?.[key]
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString()
}
