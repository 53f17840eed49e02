import { podReferences, type Pod, type Secret, type ServiceAccount } from '@skerry/api'
import { controllerBounds } from '../limits-table.ts'

export const legacyTokenLabels = Object.freeze({
  lastUsed: 'kubernetes.io/legacy-token-last-used',
  invalidSince: 'kubernetes.io/legacy-token-invalid-since',
})

const { unusedMs } = controllerBounds.legacyTokenPlan
const dayMs = 86_400_000

export interface LegacyTokens {
  secrets: readonly Secret[]
  accounts: readonly ServiceAccount[]
  pods: readonly Pod[]
  /** The day since when the server has recorded which tokens are used: `YYYY-MM-DD`. */
  trackedSince: string
  nowMs: number
}

export interface LegacyTokenPlan {
  /** Tokens that become invalid now. */
  invalidate: readonly Secret[]
  /** Invalid tokens that nobody missed. */
  remove: readonly Secret[]
}

/** Formats `YYYY-MM-DD` in UTC, as in labels. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/**
 * Plans the fate of automatically created tokens (the account names their secret): after a year
 * without use they are marked, and a year later removed. Tokens that a user requested, that pods
 * mount, or whose use is not known well enough stay as they are.
 */
export function planLegacyTokens(tokens: LegacyTokens): LegacyTokenPlan {
  const { secrets, trackedSince, nowMs } = tokens
  const invalidate: Secret[] = []
  const remove: Secret[] = []
  if (!isDay(trackedSince)) return { invalidate, remove }
  if (nowMs < Date.parse(trackedSince) + dayMs + unusedMs) return { invalidate, remove }
  const mounted = mountedSecrets(tokens.pods)
  const preservedFrom = dayOf(nowMs - unusedMs)
  for (const secret of secrets) {
    const { namespace, name, labels = {} } = secret.metadata
    if (!isUnused(secret, nowMs) || !isNamedByAccount(secret, tokens.accounts)) continue
    if (mounted.has(`${namespace}/${name}`)) continue
    const since = labels[legacyTokenLabels.invalidSince] ?? ''
    if (!isDay(since)) invalidate.push(secret)
    else if (since < preservedFrom) remove.push(secret)
  }
  return { invalidate, remove }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
}

function isUnused({ type, metadata }: Secret, nowMs: number): boolean {
  if (type !== 'kubernetes.io/service-account-token') return false
  if (metadata.deletionTimestamp !== undefined) return false
  if (Date.parse(metadata.creationTimestamp ?? '') >= nowMs - unusedMs) return false
  const lastUsed = metadata.labels?.[legacyTokenLabels.lastUsed]
  return lastUsed === undefined || (isDay(lastUsed) && lastUsed < dayOf(nowMs - unusedMs))
}

function isNamedByAccount({ metadata }: Secret, accounts: readonly ServiceAccount[]): boolean {
  const name = metadata.annotations?.['kubernetes.io/service-account.name'] ?? ''
  const uid = metadata.annotations?.['kubernetes.io/service-account.uid'] ?? ''
  const account = accounts.find(
    (each) => each.metadata.namespace === metadata.namespace && each.metadata.name === name,
  )
  if (account === undefined || (uid !== '' && account.metadata.uid !== uid)) return false
  return account.secrets?.some((each) => each.name === metadata.name) === true
}

/** Returns `namespace/name` of every secret that a pod refers to in any way. */
function mountedSecrets(pods: readonly Pod[]): ReadonlySet<string> {
  const references = pods.flatMap((pod) => podReferences(pod))
  const secrets = references.filter(({ resource }) => resource === 'secrets')
  return new Set(secrets.map(({ namespace, name }) => `${namespace}/${name}`))
}
