import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
} from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import {
  validateAutoscaler,
  validateAutoscalerStatus,
} from './horizontal-pod-autoscaler-validation.ts'

export const horizontalPodAutoscalerStrategy = strategyOf<HorizontalPodAutoscaler>({
  validate: (autoscaler) => validateAutoscaler(autoscaler),
  validateUpdate: validateAutoscaler,
  validateStatusUpdate: validateAutoscalerStatus,
  ...statusApart,
  hasGeneration: false,
  defaults: applyAutoscalerDefaults,
  prepareForCreate(next) {
    next.status = { desiredReplicas: 0 }
  },
})

const utilizationDefault = 80

function applyAutoscalerDefaults(autoscaler: LooseObject<HorizontalPodAutoscaler>): void {
  const spec = (autoscaler.spec ??= {})
  autoscaler.status ??= {}
  autoscaler.status.desiredReplicas ??= 0
  spec.minReplicas ??= 1
  if (autoscaler.apiVersion === 'autoscaling/v1') {
    autoscaler.status.currentReplicas ??= 0
    return
  }
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
