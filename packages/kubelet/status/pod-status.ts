import type { Pod, PodCondition, PodStatus } from '@skerry/api'
import { isDeepStrictEqual } from 'node:util'
import type { ObservedPod } from '../pod/observed-pod.ts'
import { isHostNetwork, specOf } from '../pod/pod-spec.ts'
import type { Termination } from '../plan/pod-actions.ts'
import type { AppliedResources } from '../resources/resize.ts'
import { qosClass } from '../resources/qos.ts'
import type { ProbeResults } from '../probes/probe-results.ts'
import { containerStatuses, hasNetwork, timestamp } from './container-statuses.ts'
import { ownConditionTypes, podConditions } from './pod-conditions.ts'
import { podPhase, type PodPhase } from './pod-phase.ts'

export interface PodStatusInput {
  pod: Pod
  observed: ObservedPod
  /** The status last computed here, or else the API's. */
  previous: PodStatus
  /** Why containers are not started now, by name. */
  waiting: ReadonlyMap<string, { reason: string; message: string }>
  probes: ProbeResults
  failure?: Termination['failure']
  /** True if nothing runs and nothing will be started. */
  isTerminal: boolean
  hostIps: readonly string[]
  /** Resources that containers were given after their creation. If omitted, none. */
  applied?: AppliedResources
  /** Why the pod continues with less than its spec requests. */
  resizePending?: { reason: string; message: string }
  isResizing?: boolean
  /** True if the node's pods have no network at all. */
  isCutOff?: boolean
  nowMs: number
}

/** Computes the whole status of a pod; pure, so that equal facts give equal bytes. */
export function podStatus(input: PodStatusInput): PodStatus {
  const { pod, previous } = input
  const spec = specOf(pod)
  const inits = (spec.initContainers ?? []).map((container) => {
    const kind = container.restartPolicy === 'Always' ? 'sidecar' : 'init'
    return containerStatuses(input, [container], kind)
  })
  const initContainerStatuses = inits.flat()
  const regular = containerStatuses(input, spec.containers, 'regular').toSorted(byName)
  const ephemeral = containerStatuses(input, spec.ephemeralContainers ?? [], 'ephemeral')
  const statuses = [...initContainerStatuses, ...regular]
  const phase = lastingPhase(input, podPhase(pod, statuses, input.isTerminal))
  const generation = pod.metadata.generation
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase,
    conditions: withTimes(
      input,
      podConditions({
        pod,
        phase,
        statuses,
        hasSandbox: hasNetwork(input),
        isResizing: input.isResizing ?? false,
        ...(input.resizePending ? { resizePending: input.resizePending } : {}),
      }),
    ),
    ...reasonOf(input, phase),
    ...addresses(input),
    startTime: previous.startTime ?? timestamp(input.nowMs),
    ...(initContainerStatuses.length > 0 ? { initContainerStatuses } : {}),
    containerStatuses: regular,
    ...(ephemeral.length > 0 ? { ephemeralContainerStatuses: ephemeral } : {}),
    qosClass: previous.qosClass ?? qosClass(pod),
  }
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1
}

/** A pod never leaves Succeeded or Failed. */
function lastingPhase(input: PodStatusInput, computed: PodPhase): PodPhase {
  for (const before of [input.pod.status?.phase, input.previous.phase]) {
    if (before === 'Failed' || before === 'Succeeded') return before
  }
  return input.failure ? 'Failed' : computed
}

function reasonOf(input: PodStatusInput, phase: PodPhase): Partial<PodStatus> {
  const { failure, previous, pod } = input
  if (failure && phase === 'Failed') return { ...failure }
  if (phase !== previous.phase) return {}
  const reason = previous.reason ?? pod.status?.reason
  const message = previous.message ?? pod.status?.message
  return { ...(reason ? { reason } : {}), ...(message ? { message } : {}) }
}

/** A pod that has ended keeps the addresses it had: clients look them up in logs. */
function addresses(input: PodStatusInput): Partial<PodStatus> {
  const { pod, observed, previous, hostIps } = input
  const host = hostIps[0] ? { hostIP: hostIps[0], hostIPs: hostIps.map((ip) => ({ ip })) } : {}
  const seen = isHostNetwork(pod)
    ? observed.sandboxes.length > 0 || previous.podIP
      ? hostIps
      : []
    : (observed.sandboxes.find(({ isReady }) => isReady)?.ips ?? [])
  const ips =
    seen.length > 0 || !input.isTerminal ? seen : (previous.podIPs ?? []).map(({ ip }) => ip)
  return { ...host, ...(ips[0] ? { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) } : {}) }
}

/** Other owners' conditions stay; a transition time changes only with the status. */
function withTimes(
  input: PodStatusInput,
  facts: readonly Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>[],
): PodCondition[] {
  const known = input.previous.conditions ?? []
  const generation = input.pod.metadata.generation
  const others = (input.pod.status?.conditions ?? []).filter(
    ({ type }) => !ownConditionTypes.includes(type),
  )
  const disruption = known.filter(({ type }) => type === 'DisruptionTarget')
  const own = facts.map((fact) => {
    const old = known.find(({ type }) => type === fact.type)
    const lastTransitionTime =
      old?.status === fact.status && old.lastTransitionTime
        ? old.lastTransitionTime
        : timestamp(input.nowMs)
    return {
      ...fact,
      lastTransitionTime,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    }
  })
  return [...others, ...disruption, ...own]
}

/** Returns false if the API needs an update. */
export function isSameStatus(one: PodStatus | undefined, other: PodStatus): boolean {
  return isDeepStrictEqual(one, other)
}
