import type {
  AdmissionregistrationV1WebhookClientConfig,
  MatchResources,
  MutatingWebhook,
  RuleWithOperations,
  ValidatingWebhook,
} from '@skerry/api'
import type { Loose } from '../typed-strategy.ts'

export function applyWebhookDefaults(webhook: Loose<ValidatingWebhook | MutatingWebhook>): void {
  webhook.failurePolicy ??= 'Fail'
  webhook.timeoutSeconds ??= 10
  applyMatchDefaults(webhook)
  applyRuleDefaults(webhook.rules)
  applyClientDefaults((webhook.clientConfig ??= {}))
}

/** Sets the defaults of webhooks, and of the match resources of admission policies. */
function applyMatchDefaults(
  match: Pick<Loose<MatchResources>, 'matchPolicy' | 'namespaceSelector' | 'objectSelector'>,
): void {
  match.matchPolicy ??= 'Equivalent'
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
}

export function applyMatchResourcesDefaults(match: Loose<MatchResources> | undefined): void {
  if (!match) return
  applyMatchDefaults(match)
  applyRuleDefaults(match.resourceRules)
  applyRuleDefaults(match.excludeResourceRules)
}

function applyRuleDefaults(rules: Loose<RuleWithOperations>[] = []): void {
  for (const rule of rules) rule.scope ??= '*'
}

function applyClientDefaults(client: Loose<AdmissionregistrationV1WebhookClientConfig>): void {
  if (client.service) client.service.port ??= 443
}
