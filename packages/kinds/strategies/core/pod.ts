import type { Pod, PodStatus, StrategyContext } from '@skerry/api'
import { keepField } from '../keep-fields.ts'
import { rfc3339 } from '../timestamps.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { expandMatchLabelKeys } from './match-label-keys.ts'
import { applyPodDefaults } from './pod-defaults.ts'
import { warningsOfName } from '../name-warnings.ts'
import { takeAppArmorAnnotations } from './pod-spec-validation/app-armor.ts'
import { warningsOfPod } from './pod-warnings/pod-warnings.ts'
import { podParts } from './pod-part-updates.ts'
import { qosClassOf } from './pod-qos.ts'
import { validatePod, validatePodUpdate } from './pod-validation.ts'
import { validatePodStatus } from './pod-status-validation.ts'

export const podStrategy = strategyOf<Pod>({
  validate: validatePod,
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatus,
  hasGeneration: true,
  parts: podParts,
  warnings: warningsOfNewPod,
  defaults: applyPodDefaults,
  prepareForCreate: preparePod,
  prepareForUpdate(next, old) {
    keepField(next, old, 'status')
  },
  prepareForStatusUpdate: preparePodStatus,
  gracefulDeletion: podGraceSeconds,
})

function preparePod(pod: LooseObject<Pod>, context: StrategyContext): void {
  applyPodDefaults(pod)
  const spec = (pod.spec ??= {})
  pod.status = { phase: 'Pending', qosClass: qosClassOf(spec) }
  if ((spec.schedulingGates ?? []).length > 0) {
    pod.status.conditions = [
      {
        type: 'PodScheduled',
        status: 'False',
        lastTransitionTime: rfc3339(context.nowMs),
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ]
  }
  expandMatchLabelKeys(spec, pod.metadata.labels)
  takeAppArmorAnnotations(pod, context.warn)
}

/** Warns on create only, because later updates come from components that would not read warnings. */
function warningsOfNewPod(pod: LooseObject<Pod>, old?: LooseObject<Pod>): string[] {
  if (old) return []
  const { metadata, spec = {} } = pod
  return [
    ...warningsOfName(metadata, "this is used in the Pod's hostname"),
    ...warningsOfPod({
      spec,
      metadata,
      path: 'spec',
      metadataPath: 'metadata',
      isTemplate: false,
    }),
  ]
}

function preparePodStatus(next: LooseObject<Pod>, old: LooseObject<Pod>): void {
  keepField(next, old, 'spec')
  keepField(next.metadata, old.metadata, 'ownerReferences')
  keepField(next.metadata, old.metadata, 'deletionTimestamp')
  const status = (next.status ??= {})
  const before = old.status ?? {}
  status.qosClass ||= before.qosClass
  keepObservedGenerations(status, before)
}

/** A writer that does not know observedGeneration must not erase another writer's value. */
function keepObservedGenerations(status: Loose<PodStatus>, before: Loose<PodStatus>): void {
  if (!status.observedGeneration && before.observedGeneration) {
    status.observedGeneration = before.observedGeneration
  }
  for (const condition of status.conditions ?? []) {
    if (condition.observedGeneration) continue
    const known = before.conditions?.find(({ type }) => type === condition.type)
    if (known?.observedGeneration) condition.observedGeneration = known.observedGeneration
  }
}

/** The grace period is zero if nothing runs: the pod is not on a node yet, or over already. */
function podGraceSeconds(pod: LooseObject<Pod>, askedSeconds: number | undefined): number {
  if (!pod.spec?.nodeName) return 0
  const phase = pod.status?.phase
  if (phase === 'Succeeded' || phase === 'Failed') return 0
  const seconds = askedSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0
  return seconds < 0 ? 1 : seconds
}
