import {
  labelSelectorOf,
  type AnyObject,
  type GroupResource,
  type MutatingWebhook,
  type MutatingWebhookConfiguration,
  type ValidatingWebhookConfiguration,
} from '@skerry/api'
import type { Objects } from '../contract/objects.ts'
import { createDerivedList } from '../admission-matching/derived-list.ts'
import { typed } from '../contract/typed-objects.ts'
import type { MatchCriteria } from '../admission-matching/request-match.ts'
import type { WebhookAddress } from './webhook-target.ts'
import { webhookLimits } from '../limits-table.ts'

/** One webhook of a configuration, ready to be called. */
export interface Webhook {
  /** Unique among all webhooks of its type. */
  readonly uid: string
  readonly name: string
  readonly configuration: string
  readonly criteria: MatchCriteria
  readonly address: WebhookAddress
  readonly timeoutMs: number
  readonly isFailureIgnored: boolean
  readonly sideEffects: string
  /** For mutating webhooks only. */
  readonly isReinvoked: boolean
  readonly reviewVersions: readonly string[]
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[]
}

export const mutatingConfigurations: GroupResource = Object.freeze({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingwebhookconfigurations',
})
export const validatingConfigurations: GroupResource = Object.freeze({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingwebhookconfigurations',
})

/** Lists all webhooks of one type in calling order. The list is rebuilt when one changes. */
export function createWebhookSource(
  objects: Objects,
  resource: GroupResource,
): () => readonly Webhook[] {
  return createDerivedList(objects, [resource], () =>
    objects
      .list(resource)
      .toSorted((a, b) => compare(a.metadata.name ?? '', b.metadata.name ?? ''))
      .flatMap(webhooksOf),
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function webhooksOf(object: AnyObject): Webhook[] {
  // Both types have the fields of the one that has more.
  const { metadata, webhooks = [] } = typed<
    MutatingWebhookConfiguration | ValidatingWebhookConfiguration
  >(object)
  const configuration = metadata.name ?? ''
  return webhooks.map((webhook, at) => webhookOf(webhook, configuration, at))
}

function webhookOf(webhook: MutatingWebhook, configuration: string, at: number): Webhook {
  const { timeoutSeconds } = webhook
  return {
    uid: `${configuration}/${webhook.name}/${at}`,
    name: webhook.name,
    configuration,
    criteria: {
      rules: webhook.rules ?? [],
      isEquivalent: webhook.matchPolicy === 'Equivalent',
      namespaceSelector: labelSelectorOf(webhook.namespaceSelector ?? {}),
      objectSelector: labelSelectorOf(webhook.objectSelector ?? {}),
    },
    address: webhook.clientConfig,
    timeoutMs:
      timeoutSeconds === undefined ? webhookLimits.defaultTimeoutMs : timeoutSeconds * 1000,
    isFailureIgnored: webhook.failurePolicy === 'Ignore',
    sideEffects: webhook.sideEffects,
    isReinvoked: webhook.reinvocationPolicy === 'IfNeeded',
    reviewVersions: webhook.admissionReviewVersions,
    matchConditions: webhook.matchConditions ?? [],
  }
}
