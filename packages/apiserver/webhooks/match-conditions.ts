import type { PluginDeps } from './plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'
import type { ReviewSubject } from '../admission-matching/admission-review.ts'
import type { Webhook } from './webhook-source.ts'

/**
 * Returns true if the webhook's conditions match. The evaluator is loaded with the first condition.
 * Throws StatusError Forbidden if that cannot be decided and failures are not ignored.
 */
export async function meetsConditions(
  webhook: Webhook,
  subject: ReviewSubject,
  deps: PluginDeps,
): Promise<boolean> {
  if (webhook.matchConditions.length === 0) return true
  const { conditionsOf } = await import('./webhook-conditions.ts')
  const result = await conditionsOf(webhook, subject, deps.authorizer)
  if (result.type === 'refused') throw refuse(subject.request, result.message)
  return result.type === 'match'
}
