import type { PluginDeps } from '../admission-plugins/plugin-deps.ts'
import type { ReviewSubject } from './admission-review.ts'
import type { Webhook } from './webhook-source.ts'

/** Does the webhook want to be asked? The language is loaded when the first webhook has conditions. */
export async function meetsConditions(
  webhook: Webhook,
  _subject: ReviewSubject,
  _deps: PluginDeps,
): Promise<boolean> {
  if (webhook.matchConditions.length === 0) return true
  throw new Error('matchConditions are not evaluated')
}
