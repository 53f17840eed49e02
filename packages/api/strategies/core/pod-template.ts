import type { PodTemplate } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'
import { applyPodTemplateDefaults } from './pod-spec-defaults.ts'

export const podTemplateStrategy = strategyOf<PodTemplate>({
  hasGeneration: true,
  defaults(object) {
    applyPodTemplateDefaults((object.template ??= {}))
  },
})
