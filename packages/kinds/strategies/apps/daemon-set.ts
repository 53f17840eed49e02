import type { DaemonSet, DaemonSetStatus } from '@skerry/api'
import { applyPodTemplateDefaults } from '../core/pod-spec-defaults.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import {
  validateDaemonSet,
  validateDaemonSetStatus,
  validateDaemonSetUpdate,
} from './daemon-set-validation.ts'
import { isSame } from '../checks.ts'
import { warningsOfTemplate } from '../core/pod-warnings/pod-warnings.ts'

export const daemonSetStrategy = strategyOf<DaemonSet>({
  warnings(next, old) {
    const template = next.spec?.template
    return old && isSame(template, old.spec?.template)
      ? []
      : warningsOfTemplate(template, 'spec.template')
  },
  validate: validateDaemonSet,
  validateUpdate: validateDaemonSetUpdate,
  validateStatusUpdate: validateDaemonSetStatus,
  ...statusApart,
  defaults: applyDaemonSetDefaults,
  prepareForCreate(next) {
    next.status = {}
    // Only the server writes this: it counts the spec's changes for clients older than generation.
    next.metadata.annotations = withTemplateGeneration(next, 1)
  },
  prepareForUpdate(next, old) {
    statusApart.prepareForUpdate(next, old)
    const before = Number(old.metadata.annotations?.[templateGeneration] ?? 0)
    const isChanged = !isSame(next.spec?.template, old.spec?.template)
    next.metadata.annotations = withTemplateGeneration(next, isChanged ? before + 1 : before)
  },
})

const templateGeneration = 'deprecated.daemonset.template.generation'

function withTemplateGeneration(
  set: LooseObject<DaemonSet>,
  generation: number,
): Record<string, string> {
  return { ...set.metadata.annotations, [templateGeneration]: String(generation) }
}

function applyDaemonSetDefaults(set: LooseObject<DaemonSet>): void {
  const spec = (set.spec ??= {})
  // The annotation replaces a field from before 1.6, so its owner is the writer of the set.
  const annotations = (set.metadata.annotations ??= {})
  annotations[templateGeneration] ??= '0'
  applyStatusDefaults((set.status ??= {}))
  spec.updateStrategy ??= {}
  spec.updateStrategy.type ||= 'RollingUpdate'
  if (spec.updateStrategy.type === 'RollingUpdate') {
    spec.updateStrategy.rollingUpdate ??= {}
    spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1
    spec.updateStrategy.rollingUpdate.maxSurge ??= 0
  }
  spec.revisionHistoryLimit ??= 10
  applyPodTemplateDefaults((spec.template ??= {}))
}

function applyStatusDefaults(status: Loose<DaemonSetStatus>): void {
  status.currentNumberScheduled ??= 0
  status.numberMisscheduled ??= 0
  status.desiredNumberScheduled ??= 0
  status.numberReady ??= 0
}
