import type {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  StatusCause,
} from '@skerry/api'
import { loadExpressions } from '../../expressions/expressions.ts'
import { strategyOf } from '../typed-strategy.ts'
import { applyWebhookDefaults } from './webhook-defaults.ts'
import type { LooseObject } from '../typed-strategy.ts'
import { checkWebhooks } from './webhook-validation.ts'
import { warningsOfFileNames } from './name-warnings.ts'

export const validatingWebhookConfigurationStrategy = strategyOf<ValidatingWebhookConfiguration>({
  load: loadExpressions,
  warnings: warningsOfFileNames,
  validate: validateConfiguration,
  validateUpdate: validateConfiguration,
  hasGeneration: true,
  countsSentEmpty: true,
  allowUnconditionalUpdate: false,
  defaults(configuration) {
    for (const webhook of configuration.webhooks ?? []) applyWebhookDefaults(webhook)
  },
})

export const mutatingWebhookConfigurationStrategy = strategyOf<MutatingWebhookConfiguration>({
  load: loadExpressions,
  warnings: warningsOfFileNames,
  validate: validateConfiguration,
  validateUpdate: validateConfiguration,
  hasGeneration: true,
  countsSentEmpty: true,
  allowUnconditionalUpdate: false,
  defaults(configuration) {
    for (const webhook of configuration.webhooks ?? []) {
      applyWebhookDefaults(webhook)
      webhook.reinvocationPolicy ??= 'Never'
    }
  },
})

type AnyConfiguration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration

function validateConfiguration(configuration: LooseObject<AnyConfiguration>): StatusCause[] {
  const found: StatusCause[] = []
  checkWebhooks(configuration.webhooks ?? [], found)
  return found
}
