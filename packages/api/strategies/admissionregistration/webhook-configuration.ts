import type {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'
import { applyWebhookDefaults } from './webhook-defaults.ts'

export const validatingWebhookConfigurationStrategy = strategyOf<ValidatingWebhookConfiguration>({
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  defaults(configuration) {
    for (const webhook of configuration.webhooks ?? []) applyWebhookDefaults(webhook)
  },
})

export const mutatingWebhookConfigurationStrategy = strategyOf<MutatingWebhookConfiguration>({
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  defaults(configuration) {
    for (const webhook of configuration.webhooks ?? []) {
      applyWebhookDefaults(webhook)
      webhook.reinvocationPolicy ??= 'Never'
    }
  },
})
