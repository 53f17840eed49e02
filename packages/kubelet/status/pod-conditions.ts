import type { ContainerStatus, Pod, PodCondition } from '@skerry/api'
import { isSidecar, specOf } from '../pod/pod-spec.ts'
import type { PodPhase } from './pod-phase.ts'

/** Set only while a resize of the running pod is not done. */
export const resizeConditionTypes: readonly string[] = Object.freeze([
  'PodResizePending',
  'PodResizeInProgress',
])

/** The conditions that the node agent owns; all others belong to their writers. */
export const ownConditionTypes: readonly string[] = Object.freeze([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'DisruptionTarget',
  ...resizeConditionTypes,
])

export interface ConditionInput {
  pod: Pod
  phase: PodPhase
  /** The statuses, with init containers first. */
  statuses: readonly ContainerStatus[]
  hasSandbox: boolean
  isResizing?: boolean
  resizePending?: { reason: string; message: string }
}

type Fact = Pick<PodCondition, 'status' | 'reason' | 'message'>

/** Leaves out transition times: pod-status.ts keeps those of unchanged conditions. */
export function podConditions(input: ConditionInput): (Fact & { type: string })[] {
  const containersReady = containersReadyFact(input)
  return [
    { type: 'PodReadyToStartContainers', status: input.hasSandbox ? 'True' : 'False' },
    { type: 'Initialized', ...initializedFact(input) },
    { type: 'Ready', ...readyFact(input.pod, containersReady) },
    { type: 'ContainersReady', ...containersReady },
    { type: 'PodScheduled', status: 'True' },
    ...(input.resizePending
      ? [{ type: 'PodResizePending', status: 'True', ...input.resizePending }]
      : []),
    ...(input.isResizing ? [{ type: 'PodResizeInProgress', status: 'True' }] : []),
  ]
}

function containersReadyFact({ pod, phase, statuses }: ConditionInput): Fact {
  const spec = specOf(pod)
  const names = [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers].map(
    ({ name }) => name,
  )
  const unknown = names.filter((name) => !statuses.some((status) => status.name === name))
  const unready = names.filter((name) =>
    statuses.some((status) => status.name === name && !status.ready),
  )
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  if (phase === 'Succeeded' && unknown.length === 0) {
    return { status: 'False', reason: 'PodCompleted' }
  }
  const message = [
    ...(unknown.length > 0 ? [`containers with unknown status: [${unknown.join(' ')}]`] : []),
    ...(unready.length > 0 ? [`containers with unready status: [${unready.join(' ')}]`] : []),
  ].join(', ')
  if (message) return { status: 'False', reason: 'ContainersNotReady', message }
  return { status: 'True' }
}

function readyFact(pod: Pod, containersReady: Fact): Fact {
  if (containersReady.status !== 'True') return containersReady
  const message = (specOf(pod).readinessGates ?? [])
    .flatMap(({ conditionType }) => {
      const condition = pod.status?.conditions?.find(({ type }) => type === conditionType)
      if (!condition) {
        return `corresponding condition of pod readiness gate "${conditionType}" does not exist.`
      }
      if (condition.status === 'True') return []
      return `the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`
    })
    .join(', ')
  return message
    ? { status: 'False', reason: 'ReadinessGatesNotReady', message }
    : { status: 'True' }
}

function initializedFact({ pod, phase, statuses }: ConditionInput): Fact {
  const spec = specOf(pod)
  const inits = spec.initContainers ?? []
  const find = (name: string): ContainerStatus | undefined =>
    statuses.find((status) => status.name === name)
  const unknown = inits.filter(({ name }) => !find(name)).map(({ name }) => name)
  const incomplete = inits
    .filter((container) => {
      const status = find(container.name)
      return status && !(isSidecar(container) ? status.started : status.ready)
    })
    .map(({ name }) => name)
  if (phase === 'Succeeded' && unknown.length === 0) {
    return { status: 'True', reason: 'PodCompleted' }
  }
  const hasStarted = spec.containers.some(({ name }) => {
    const status = find(name)
    return (
      status?.state?.running ?? status?.state?.terminated ?? status?.lastState?.terminated ?? false
    )
  })
  if (hasStarted) return { status: 'True' }
  const message = [
    ...(unknown.length > 0 ? [`containers with unknown status: [${unknown.join(' ')}]`] : []),
    ...(incomplete.length > 0
      ? [`containers with incomplete status: [${incomplete.join(' ')}]`]
      : []),
  ].join(', ')
  return message
    ? { status: 'False', reason: 'ContainersNotInitialized', message }
    : { status: 'True' }
}
