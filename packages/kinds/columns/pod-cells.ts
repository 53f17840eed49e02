import { ageOf, type AnyObject, type ContainerStatus, type Pod } from '@skerry/api'
import type { TableRowCondition } from './table.ts'

/** The cells of `kubectl get pods` about a pod's containers. */
export interface PodSummary {
  status: string
  readyContainers: number
  totalContainers: number
  restarts: number
  /** The end of the container's last run before a restart (RFC 3339). */
  lastRestart: string | undefined
}

/** Summarizes a pod in one word as upstream does: the most telling reason of its containers. */
export function summarizePod(pod: Pod): PodSummary {
  const sidecars = new Set(
    (pod.spec?.initContainers ?? [])
      .filter((container) => container.restartPolicy === 'Always')
      .map((container) => container.name),
  )
  const init = summarizeInit(pod, sidecars)
  const summary: PodSummary = {
    status: init.reason ?? reasonOfPod(pod),
    readyContainers: init.readySidecars,
    totalContainers: (pod.spec?.containers.length ?? 0) + sidecars.size,
    restarts: sum(init.seen.map((status) => status.restartCount)),
    lastRestart: latestEnd(init.seen),
  }
  if (init.reason === undefined || hasCondition(pod, 'Initialized')) {
    const main = pod.status?.containerStatuses ?? []
    const counted = [...init.seen.filter((status) => sidecars.has(status.name)), ...main]
    summary.restarts = sum(counted.map((status) => status.restartCount))
    summary.lastRestart = latestEnd(counted)
    summary.readyContainers += main.filter(isReadyAndRunning).length
    summary.status = reasonOfContainers(pod, main, summary.status)
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    const phase = pod.status?.phase
    if (pod.status?.reason === 'NodeLost') summary.status = 'Unknown'
    else if (phase !== 'Succeeded' && phase !== 'Failed') summary.status = 'Terminating'
  }
  return summary
}

export function restartsText(pod: Pod, nowMs: number): string {
  const { restarts, lastRestart } = summarizePod(pod)
  if (restarts === 0 || lastRestart === undefined) return String(restarts)
  return `${restarts} (${ageOf(lastRestart, nowMs)} ago)`
}

export function readinessGatesText(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const passed = gates.filter(({ conditionType }) => hasCondition(pod, conditionType))
  return `${passed.length}/${gates.length}`
}

/** A finished pod is a completed row. */
export function podRowConditions(object: AnyObject): TableRowCondition[] {
  // The table of columns names this function for pods alone, and the registry has decoded each
  // object against its kind's schema, so an AnyObject here is a Pod.
  const phase = (object as unknown as Pod).status?.phase
  if (phase !== 'Succeeded' && phase !== 'Failed') return []
  const message = phase === 'Succeeded' ? 'The pod has completed successfully.' : 'The pod failed.'
  return [{ type: 'Completed', status: 'True', reason: phase, message }]
}

function reasonOfPod(pod: Pod): string {
  const isGated = pod.status?.conditions?.some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  )
  if (isGated) return 'SchedulingGated'
  return pod.status?.reason || pod.status?.phase || ''
}

/** Walks the init containers up to the first one that the pod waits for. */
function summarizeInit(pod: Pod, sidecars: ReadonlySet<string>) {
  const seen: ContainerStatus[] = []
  let readySidecars = 0
  for (const [index, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    seen.push(status)
    if (status.state?.terminated?.exitCode === 0) continue
    if (sidecars.has(status.name) && status.started) {
      if (status.ready) readySidecars += 1
      continue
    }
    const total = pod.spec?.initContainers?.length ?? 0
    return { seen, readySidecars, reason: `Init:${reasonOfInit(status) ?? `${index}/${total}`}` }
  }
  return { seen, readySidecars, reason: undefined }
}

function reasonOfInit({ state }: ContainerStatus): string | undefined {
  if (state?.terminated) return reasonOfEnd(state.terminated)
  const reason = state?.waiting?.reason
  return reason === '' || reason === 'PodInitializing' ? undefined : reason
}

function reasonOfEnd(ended: { reason?: string; signal?: number; exitCode: number }): string {
  if (ended.reason) return ended.reason
  return ended.signal ? `Signal:${ended.signal}` : `ExitCode:${ended.exitCode}`
}

/** The first container's reason wins. A pod that still runs something is not Completed. */
function reasonOfContainers(pod: Pod, main: readonly ContainerStatus[], reason: string): string {
  let failure: string | undefined
  let result = reason
  for (const status of main.toReversed()) {
    const { waiting, terminated } = status.state ?? {}
    if (waiting?.reason) result = waiting.reason
    else if (terminated) {
      result = reasonOfEnd(terminated)
      if (terminated.exitCode !== 0) failure = result
    }
  }
  if (result !== 'Completed') return result
  const isRunning = main.some(isReadyAndRunning)
  if (isRunning && hasCondition(pod, 'Ready')) return 'Running'
  return failure ?? (isRunning ? 'NotReady' : result)
}

function isReadyAndRunning({ ready, state }: ContainerStatus): boolean {
  if (state?.waiting?.reason || state?.terminated) return false
  return ready && state?.running !== undefined
}

function hasCondition(pod: Pod, type: string): boolean {
  return pod.status?.conditions?.find((one) => one.type === type)?.status === 'True'
}

function latestEnd(statuses: readonly ContainerStatus[]): string | undefined {
  const ends = statuses.flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? [])
  return ends.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
