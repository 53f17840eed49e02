import type { Container, ContainerStatus, Pod } from '@skerry/api'
import { isSidecar, shouldRestart, specOf } from '../pod/pod-spec.ts'

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

interface Counts {
  unknown: number
  running: number
  waiting: number
  stopped: number
  /** The number of stopped ones that stay stopped. */
  stoppedForGood: number
  succeeded: number
}

/**
 * Returns the phase that follows from the containers' statuses. `isTerminal` means that nothing will start
 * any more.
 */
export function podPhase(
  pod: Pod,
  statuses: readonly ContainerStatus[],
  isTerminal: boolean,
): PodPhase {
  const spec = specOf(pod)
  const find = ({ name }: Container): ContainerStatus | undefined =>
    statuses.find((status) => status.name === name)
  const inits = spec.initContainers ?? []
  const plain = inits.filter((container) => !isSidecar(container))
  if (plain.some((container) => hasFailedForGood(pod, container, find(container)))) return 'Failed'
  const hasStarted = spec.containers.some((container) => isOrWasActive(find(container)))
  const isInitPending = plain.some((container) => isPendingInit(find(container)))
  const isSidecarPending = inits.filter(isSidecar).some((one) => isPendingSidecar(find(one)))
  const counts = count(pod, statuses)
  if (isInitPending || (isSidecarPending && !hasStarted) || counts.waiting > 0) return 'Pending'
  if (counts.unknown > 0) return 'Pending'
  if (counts.running > 0) return 'Running'
  if (counts.stopped === 0) return 'Pending'
  if (!isTerminal && counts.stoppedForGood < counts.stopped) return 'Running'
  return counts.succeeded === counts.stopped ? 'Succeeded' : 'Failed'
}

function count(pod: Pod, statuses: readonly ContainerStatus[]): Counts {
  const spec = specOf(pod)
  const counts: Counts = {
    unknown: 0,
    running: 0,
    waiting: 0,
    stopped: 0,
    stoppedForGood: 0,
    succeeded: 0,
  }
  for (const container of (spec.initContainers ?? []).filter(isSidecar)) {
    const status = statuses.find(({ name }) => name === container.name)
    if (!status) counts.unknown += 1
    else if (status.state?.running) counts.running += 1
    else if (status.state?.waiting && !status.lastState?.terminated) counts.waiting += 1
  }
  for (const container of spec.containers) {
    const status = statuses.find(({ name }) => name === container.name)
    const ended = status?.state?.terminated ?? status?.lastState?.terminated
    if (status?.state?.running) counts.running += 1
    else if (ended) {
      counts.stopped += 1
      if (!shouldRestart(container, spec, ended.exitCode)) counts.stoppedForGood += 1
      if (status?.state?.terminated?.exitCode === 0) counts.succeeded += 1
    } else if (status?.state?.waiting) counts.waiting += 1
    else counts.unknown += 1
  }
  return counts
}

function hasFailedForGood(
  pod: Pod,
  container: Container,
  status: ContainerStatus | undefined,
): boolean {
  const ended = status?.state?.terminated ?? status?.lastState?.terminated
  if (!ended || status?.state?.running || ended.exitCode === 0) return false
  return !shouldRestart(container, specOf(pod), ended.exitCode)
}

function isPendingInit(status: ContainerStatus | undefined): boolean {
  if (status?.state?.terminated) return status.state.terminated.exitCode !== 0
  return true
}

function isPendingSidecar(status: ContainerStatus | undefined): boolean {
  if (status?.state?.running) return status.started !== true
  return !status?.state?.terminated && !status?.lastState?.terminated
}

function isOrWasActive(status: ContainerStatus | undefined): boolean {
  return Boolean(
    status?.state?.running ?? status?.state?.terminated ?? status?.lastState?.terminated,
  )
}
