import type { Deployment } from '@skerry/api'
import { applyPodTemplateDefaults } from '../core/pod-spec-defaults.ts'
import { keepField, statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import {
  validateDeployment,
  validateDeploymentStatus,
  validateDeploymentUpdate,
} from './deployment-validation.ts'
import { isSame } from '../checks.ts'
import { warningsOfName } from '../name-warnings.ts'
import { warningsOfTemplate } from '../core/pod-warnings/pod-warnings.ts'

export const deploymentStrategy = strategyOf<Deployment>({
  warnings(next, old) {
    const { annotations } = next.metadata
    if (old && isSame(next.spec, old.spec) && isSame(annotations, old.metadata.annotations)) {
      return []
    }
    return [
      ...(old ? [] : warningsOfName(next.metadata)),
      ...warningsOfTemplate(next.spec?.template, 'spec.template'),
    ]
  },
  validate: validateDeployment,
  validateUpdate: validateDeploymentUpdate,
  validateStatusUpdate: validateDeploymentStatus,
  ...statusApart,
  defaults: applyDeploymentDefaults,
  prepareForStatusUpdate(next, old) {
    keepField(next, old, 'spec')
    keepField(next.metadata, old.metadata, 'labels')
  },
})

function applyDeploymentDefaults(deployment: LooseObject<Deployment>): void {
  const spec = (deployment.spec ??= {})
  deployment.status ??= {}
  spec.replicas ??= 1
  spec.strategy ??= {}
  spec.strategy.type ||= 'RollingUpdate'
  if (spec.strategy.type === 'RollingUpdate') {
    spec.strategy.rollingUpdate ??= {}
    spec.strategy.rollingUpdate.maxUnavailable ??= '25%'
    spec.strategy.rollingUpdate.maxSurge ??= '25%'
  }
  spec.revisionHistoryLimit ??= 10
  spec.progressDeadlineSeconds ??= 600
  applyPodTemplateDefaults((spec.template ??= {}))
}
