import type { PodTemplate, StatusCause } from '@skerry/api'
import { strategyOf } from '../typed-strategy.ts'
import { applyPodTemplateDefaults } from './pod-spec-defaults.ts'
import type { LooseObject } from '../typed-strategy.ts'
import { checkPodTemplate } from './pod-template-validation.ts'
import { isSame } from '../checks.ts'
import { warningsOfTemplate } from './pod-warnings/pod-warnings.ts'

export const podTemplateStrategy = strategyOf<PodTemplate>({
  warnings(next, old) {
    return old && isSame(next.template, old.template)
      ? []
      : warningsOfTemplate(next.template, 'template')
  },
  validate: validatePodTemplate,
  validateUpdate: validatePodTemplate,
  hasGeneration: true,
  defaults(object) {
    applyPodTemplateDefaults((object.template ??= {}))
  },
})

function validatePodTemplate(object: LooseObject<PodTemplate>): StatusCause[] {
  const found: StatusCause[] = []
  checkPodTemplate(object.template ?? {}, 'template', found)
  return found
}
