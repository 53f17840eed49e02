import type { JsonObject } from '@skerry/api'
import { asError, type Clock, type Logger } from '@skerry/base'
import type { Attributes, Authorizer, Decision } from '../contract/access.ts'
import { BoundedCache } from '../authn/bounded-cache.ts'
import type { AccessConditions } from './access-conditions.ts'
import { accessQuestion } from './access-question.ts'
import { accessWebhookLimits as limits, apiServerBounds } from '../limits-table.ts'
import type { PostReview } from './post-review.ts'

export interface AccessWebhookOptions {
  readonly version: 'v1' | 'v1beta1'
  /** How long an "allowed" answer is cached. With 0 it is not cached. */
  readonly allowedMs: number
  /** How long any other answer is cached. */
  readonly othersMs: number
  /** The decision if the webhook cannot be reached. */
  readonly onFailure: 'deny' | 'no-opinion'
  /** If omitted, the webhook is asked about every request. */
  readonly conditions?: AccessConditions
}

const { cachedFieldCharsMax } = apiServerBounds.accessWebhook

/** Creates an authorizer that asks a webhook (SubjectAccessReview). */
export function createAccessWebhook(
  post: PostReview,
  options: AccessWebhookOptions,
  { clock, log }: { clock: Clock; log: Logger },
): Authorizer {
  const entriesMax = limits.cachedMax
  const allowed = new BoundedCache<Decision>({ entriesMax, ttlMs: options.allowedMs }, clock)
  const others = new BoundedCache<Decision>({ entriesMax, ttlMs: options.othersMs }, clock)
  const never = new AbortController().signal
  const failed = (error: unknown): Decision => {
    const cause = asError(error)
    return { verdict: options.onFailure, reason: '', error: cause }
  }
  const ask = async (spec: JsonObject): Promise<Decision> => {
    const apiVersion = `authorization.k8s.io/${options.version}`
    const { groups, ...rest } = spec
    // v1beta1 names the groups differently.
    const asked = options.version === 'v1' || !groups ? spec : { ...rest, group: groups }
    const review = { apiVersion, kind: 'SubjectAccessReview', metadata: {}, spec: asked }
    return decisionOf(await post(review, never))
  }
  return {
    async authorize(asked) {
      const spec = accessQuestion(asked)
      try {
        if (options.conditions?.(spec) === false) return { verdict: 'no-opinion', reason: '' }
      } catch (error) {
        return failed(error)
      }
      const key = isCacheable(asked) ? JSON.stringify(spec) : ''
      const known = key === '' ? undefined : (allowed.get(key) ?? others.get(key))
      if (known) return known
      try {
        const decision = await ask(spec)
        const isAllowed = decision.verdict === 'allow'
        const lives = (isAllowed ? options.allowedMs : options.othersMs) > 0
        if (key !== '' && lives) (isAllowed ? allowed : others).set(key, decision)
        return decision
      } catch (error) {
        log.error('Authorization webhook failed', {
          error: asError(error),
        })
        return failed(error)
      }
    },
  }
}

function isCacheable(asked: Attributes): boolean {
  const { namespace = '', name = '', subresource = '', path } = asked
  const { group = '', version = '', resource = '' } = asked.resource ?? {}
  const chars = [namespace, name, subresource, path, group, version, resource]
  return chars.reduce((sum, text) => sum + text.length, 0) < cachedFieldCharsMax
}

function decisionOf(status: JsonObject): Decision {
  const reason = typeof status.reason === 'string' ? status.reason : ''
  if (status.denied === true && status.allowed === true) {
    const text = 'webhook subject access review returned both allow and deny response'
    return { verdict: 'deny', reason, error: new Error(text) }
  }
  if (status.denied === true) return { verdict: 'deny', reason }
  return { verdict: status.allowed === true ? 'allow' : 'no-opinion', reason }
}
