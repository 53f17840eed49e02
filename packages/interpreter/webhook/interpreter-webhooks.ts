import type { KubeObject } from '@skerry/api'
import type { InterpreterOperation } from '../contract/resource-interpreter.ts'
import type { WebhookConfiguration, WebhookFields, WebhookRule } from './webhook-configuration.ts'

/** One webhook, with its name in errors. */
export interface InterpreterWebhook extends WebhookFields {
  /** The name `configuration/webhook`. */
  readonly id: string
}

/** Finds the webhook for a kind and operation. */
export class InterpreterWebhooks {
  readonly #webhooks: readonly InterpreterWebhook[]

  constructor(configurations: readonly WebhookConfiguration[]) {
    this.#webhooks = configurations
      .flatMap(({ metadata, webhooks = [] }) =>
        webhooks.map((webhook) => ({ ...webhook, id: `${metadata.name ?? ''}/${webhook.name}` })),
      )
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** Returns the first matching webhook by name; undefined if none matches. */
  of(
    { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>,
    operation: InterpreterOperation,
  ): InterpreterWebhook | undefined {
    const slash = apiVersion.indexOf('/')
    const asked = {
      operations: operation,
      apiGroups: slash === -1 ? '' : apiVersion.slice(0, slash),
      apiVersions: apiVersion.slice(slash + 1),
      kinds: kind,
    }
    return this.#webhooks.find(({ rules = [] }) => rules.some((rule) => isMeant(rule, asked)))
  }
}

function isMeant(rule: WebhookRule, asked: Readonly<Record<keyof WebhookRule, string>>): boolean {
  const covers = (list: readonly string[], value: string): boolean =>
    list.includes('*') || list.includes(value)
  return (
    covers(rule.operations, asked.operations) &&
    covers(rule.apiGroups, asked.apiGroups) &&
    covers(rule.apiVersions, asked.apiVersions) &&
    covers(rule.kinds, asked.kinds)
  )
}
