import type { KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'

/** A config.karmada.io/v1alpha1 ResourceInterpreterWebhookConfiguration. */
export interface WebhookConfiguration extends KubeObject {
  webhooks?: WebhookFields[]
}

export interface WebhookFields {
  name: string
  clientConfig: {
    url?: string
    service?: { namespace: string; name: string; path?: string; port?: number }
    /** PEM in base64. If omitted, the authorities that the machine trusts. */
    caBundle?: string
  }
  rules?: WebhookRule[]
  timeoutSeconds?: number
  interpreterContextVersions?: string[]
}

/** A rule, each of whose lists may have `*`, which matches everything. */
export interface WebhookRule {
  operations: string[]
  apiGroups: string[]
  apiVersions: string[]
  kinds: string[]
}

export const webhookConfigurationResource: TypedResource<WebhookConfiguration> = Object.freeze({
  group: 'config.karmada.io',
  version: 'v1alpha1',
  resource: 'resourceinterpreterwebhookconfigurations',
  isNamespaced: false,
})
