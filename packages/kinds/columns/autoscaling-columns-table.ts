import {
  canonicalQuantity,
  type Column,
  type HorizontalPodAutoscaler,
  type MetricSpec,
  type MetricStatus,
} from '@skerry/api'
import { ageCell, columnsOf, firstFew, integer, nameCell } from './column.ts'

/** The fields of autoscaling/v1 in place of metrics. */
interface CpuTarget {
  spec?: { targetCPUUtilizationPercentage?: number }
  status?: { currentCPUUtilizationPercentage?: number }
}

interface Target {
  averageValue?: string
  averageUtilization?: number
  value?: string
}

export const autoscalingColumns: Readonly<Record<string, readonly Column[]>> = Object.freeze({
  'autoscaling/HorizontalPodAutoscaler': columnsOf<HorizontalPodAutoscaler>([
    nameCell,
    {
      name: 'Reference',
      cell: ({ spec }) => `${spec?.scaleTargetRef.kind}/${spec?.scaleTargetRef.name}`,
    },
    { name: 'Targets', cell: targetsText },
    { name: 'MinPods', cell: ({ spec }) => String(spec?.minReplicas ?? '<unset>') },
    { name: 'MaxPods', cell: ({ spec }) => spec?.maxReplicas ?? 0 },
    { ...integer('Replicas', ({ status }) => status?.currentReplicas), type: 'string' },
    ageCell,
  ]),
})

function targetsText(autoscaler: HorizontalPodAutoscaler & CpuTarget): string {
  const percentage = autoscaler.spec?.targetCPUUtilizationPercentage
  if (percentage !== undefined) {
    const current = autoscaler.status?.currentCPUUtilizationPercentage
    return `cpu: ${current === undefined ? '<unknown>' : `${current}%`}/${percentage}%`
  }
  const statuses = autoscaler.status?.currentMetrics ?? []
  const texts = (autoscaler.spec?.metrics ?? []).map((spec, index) =>
    metricText(spec, statuses[index]),
  )
  return texts.length === 0 ? '<none>' : firstFew(texts, 2, ', ')
}

function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  switch (spec.type) {
    case 'External':
      return valueText(spec.external?.target, status?.external?.current)
    case 'Object':
      return valueText(spec.object?.target, status?.object?.current)
    case 'Pods': {
      const current = status?.pods && quantityText(status.pods.current.averageValue)
      return `${current ?? '<unknown>'}/${quantityText(spec.pods?.target.averageValue)}`
    }
    case 'Resource':
      return `${spec.resource?.name}: ${resourceText(spec.resource?.target, status?.resource?.current)}`
    case 'ContainerResource': {
      const { name, target } = spec.containerResource ?? {}
      return `${name}: ${resourceText(target, status?.containerResource?.current)}`
    }
    default:
      return '<unknown type>'
  }
}

function valueText(target: Target | undefined, current: Target | undefined): string {
  if (target?.averageValue !== undefined) {
    const average = current?.averageValue
    const now = average === undefined ? '<unknown>' : quantityText(average)
    return `${now}/${quantityText(target.averageValue)} (avg)`
  }
  return `${current ? quantityText(current.value) : '<unknown>'}/${quantityText(target?.value)}`
}

function resourceText(target: Target | undefined, current: Target | undefined): string {
  if (target?.averageValue !== undefined) {
    const now = current ? quantityText(current.averageValue) : '<unknown>'
    return `${now}/${quantityText(target.averageValue)}`
  }
  const wanted = percentText(target?.averageUtilization) ?? '<auto>'
  return `${percentText(current?.averageUtilization) ?? '<unknown>'}/${wanted}`
}

function percentText(percentage: number | undefined): string | undefined {
  return percentage === undefined ? undefined : `${percentage}%`
}

/** Upstream shows `<nil>` if a metric lacks the value that its type requires. */
function quantityText(quantity: string | undefined): string {
  return quantity === undefined ? '<nil>' : canonicalQuantity(quantity)
}
