import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
} from '@skerry/api'
import { autoscalerFromVersion2, autoscalerToVersion2 } from './autoscaler-versions.ts'
import { keepField, statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose, type LooseObject, type TypedStrategy } from '../typed-strategy.ts'
import {
  validateAutoscaler,
  validateAutoscalerStatus,
} from './horizontal-pod-autoscaler-validation.ts'

const horizontalPodAutoscalerHooks: TypedStrategy<HorizontalPodAutoscaler> = {
  validate: (autoscaler) => validateAutoscaler(autoscaler),
  validateUpdate: validateAutoscaler,
  validateStatusUpdate: validateAutoscalerStatus,
  ...statusApart,
  hasGeneration: false,
  defaults: applyAutoscalerDefaults,
  prepareForCreate(next) {
    next.status = { desiredReplicas: 0 }
  },
}

export const horizontalPodAutoscalerStrategy = strategyOf(horizontalPodAutoscalerHooks)

/** Version 1 keeps the data it has no fields for in annotations, written as upstream does. */
export const horizontalPodAutoscalerV1Strategy = strategyOf<HorizontalPodAutoscaler>({
  ...horizontalPodAutoscalerHooks,
  defaults(autoscaler) {
    const spec = (autoscaler.spec ??= {})
    autoscaler.status ??= {}
    autoscaler.status.desiredReplicas ??= 0
    spec.minReplicas ??= 1
    autoscalerToVersion2(autoscaler)
    autoscalerFromVersion2(autoscaler)
  },
  // The client's status is in annotations by now, too, and is removed with the status.
  prepareForCreate(next) {
    autoscalerToVersion2(next)
    next.status = { desiredReplicas: 0 }
    autoscalerFromVersion2(next)
  },
  prepareForUpdate(next, old) {
    autoscalerToVersion2(next)
    keepField(next, asVersion2(old), 'status')
    autoscalerFromVersion2(next)
  },
  validate: (autoscaler) => validateAutoscaler(asVersion2(autoscaler)),
  validateUpdate: (next, old) => validateAutoscaler(asVersion2(next), asVersion2(old)),
})

function asVersion2(
  autoscaler: LooseObject<HorizontalPodAutoscaler>,
): LooseObject<HorizontalPodAutoscaler> {
  const copy = structuredClone(autoscaler)
  autoscalerToVersion2(copy)
  return copy
}

const utilizationDefault = 80

function applyAutoscalerDefaults(autoscaler: LooseObject<HorizontalPodAutoscaler>): void {
  const spec = (autoscaler.spec ??= {})
  autoscaler.status ??= {}
  autoscaler.status.desiredReplicas ??= 0
  spec.minReplicas ??= 1
  if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuUtilization()]
  applyBehaviorDefaults(spec)
}

function cpuUtilization(): NonNullable<Loose<HorizontalPodAutoscalerSpec>['metrics']>[number] {
  const target = { type: 'Utilization', averageUtilization: utilizationDefault }
  return { type: 'Resource', resource: { name: 'cpu', target } }
}

function applyBehaviorDefaults(spec: Loose<HorizontalPodAutoscalerSpec>): void {
  if (!spec.behavior) return
  spec.behavior.scaleUp = {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
    ...whatIsSet(spec.behavior.scaleUp),
  }
  spec.behavior.scaleDown = {
    selectPolicy: 'Max',
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
    ...whatIsSet(spec.behavior.scaleDown),
  }
}

function whatIsSet(rules: Loose<HPAScalingRules> = {}): Loose<HPAScalingRules> {
  return Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined))
}
