import { timingSafeEqual } from 'node:crypto'
import { isStatusError, type AnyObject, type Secret } from '@skerry/api'
import { asError, type Clock, type Logger } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import { typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { secretText } from './bootstrap-token.ts'
import { TokenError } from './token-authenticator.ts'

const lastUsedLabel = 'kubernetes.io/legacy-token-last-used'
const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since'
const tracking = Object.freeze({
  namespace: 'kube-system',
  name: 'kube-apiserver-legacy-service-account-token-tracking',
})
const dayMs = 86_400_000

/** `YYYY-MM-DD` in UTC. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

export interface LegacyTokenUse {
  readonly token: string
  readonly account: string
  /** The current secret that the token is bound to. */
  readonly secret: AnyObject
}

export interface LegacyTokenDeps {
  readonly objects: Objects
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Records, once a day, that a token in a secret of type service-account-token is in use, and
 * refuses one whose secret is marked as invalid (KEP-2799). Tokens that are bound to a secret
 * without being in it are not affected. Throws TokenError.
 */
export async function useLegacyToken(use: LegacyTokenUse, deps: LegacyTokenDeps): Promise<void> {
  const { metadata } = use.secret
  if (!isIn(typed<Secret>(use.secret), use.token)) return
  await noteUse(use.secret, deps)
  const invalidSince = metadata.labels?.[invalidSinceLabel] ?? ''
  if (invalidSince === '') return
  throw new TokenError(
    `the token in secret ${metadata.namespace}/${metadata.name} for service account ${metadata.namespace}/${use.account} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSinceLabel}' label from the secret to temporarily allow use of this token`,
  )
}

function isIn(secret: Secret, token: string): boolean {
  if (secret.type !== 'kubernetes.io/service-account-token') return false
  const [own, used] = [Buffer.from(secretText(secret, 'token')), Buffer.from(token)]
  return own.length === used.length && timingSafeEqual(own, used)
}

/** A failed write does not refuse the token; the next use tries again. */
async function noteUse(
  { metadata }: AnyObject,
  { objects, clock, log }: LegacyTokenDeps,
): Promise<void> {
  const { namespace = '', name = '', uid } = metadata
  const today = dayOf(clock.now())
  // Another server's clock may be ahead of ours.
  const isNoted = (labels: Readonly<Record<string, string>> | undefined): boolean =>
    [today, dayOf(clock.now() + dayMs)].includes(labels?.[lastUsedLabel] ?? '')
  if (isNoted(metadata.labels)) return
  try {
    await objects.update(wellKnown.secrets, { namespace, name }, (secret) => {
      if (secret.metadata.uid !== uid || isNoted(secret.metadata.labels)) return false
      secret.metadata.labels = { ...secret.metadata.labels, [lastUsedLabel]: today }
      return true
    })
  } catch (error) {
    log.error('Use of a token in a secret not recorded', {
      secret: `${namespace}/${name}`,
      error: asError(error),
    })
  }
}

/** Publishes the day since which uses are recorded. The cleaner of unused tokens needs to know it. */
export async function publishTokenTracking(objects: Objects, clock: Clock): Promise<void> {
  const { namespace, name } = tracking
  const found = objects.get(wellKnown.configMaps, namespace, name)
  const data = { since: dayOf(clock.now()) }
  if (found === undefined) {
    try {
      await objects.create(wellKnown.configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name },
        data,
      })
    } catch (error) {
      // Another server of the same cluster starts at the same time.
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
    return
  }
  await objects.update(wellKnown.configMaps, tracking, (object) => {
    if (isDay(object['data'])) return false
    object['data'] = { ...asFields(object['data']), ...data }
    return true
  })
}

function isDay(data: unknown): boolean {
  const since = asFields(data)['since']
  return (
    typeof since === 'string' &&
    /^\d{4}-\d{2}-\d{2}$/.test(since) &&
    !Number.isNaN(Date.parse(since))
  )
}

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  // Any JSON object may be read by name.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
