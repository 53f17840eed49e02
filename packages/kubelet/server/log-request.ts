import { join } from 'node:path'
import { StatusError, type ContainerStatus, type Pod } from '@skerry/api'
import type { LogOptions } from '../logs/read-log.ts'
import { containerLogPath } from '../pod/pod-paths.ts'
import type { PodDirectory } from '../pods/pod-set.ts'

/** The API server has checked the values; what still makes no sense is refused. */
export function parseLogOptions(query: URLSearchParams, nowMs: number): LogOptions {
  const sinceSeconds = numberOf(query, 'sinceSeconds')
  const sinceTime = query.get('sinceTime')
  return {
    follow: query.get('follow') === 'true',
    timestamps: query.get('timestamps') === 'true',
    tailLines: numberOf(query, 'tailLines'),
    limitBytes: numberOf(query, 'limitBytes'),
    sinceMs:
      sinceSeconds !== undefined
        ? nowMs - sinceSeconds * 1_000
        : sinceTime
          ? Date.parse(sinceTime)
          : undefined,
  }
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new StatusError('BadRequest', `Cannot read log: ${name} is "${text}", not a whole number`)
}

export function findContainerStatus(pod: Pod, container: string): ContainerStatus | undefined {
  const { status } = pod
  return [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ].find((each) => each.name === container)
}

/** The file of the container's current run, or of the one before; upstream's words where there is none. */
export function logPathOf(
  pods: PodDirectory,
  { pod, container, isPrevious }: { pod: Pod; container: string; isPrevious: boolean },
): string {
  const name = pod.metadata.name ?? ''
  const status = findContainerStatus(pod, container)
  if (status === undefined) {
    throw new StatusError(
      'BadRequest',
      `container "${container}" in pod "${name}" is not available`,
    )
  }
  const { state, lastState, restartCount } = status
  if (isPrevious) {
    if (lastState?.terminated === undefined || restartCount === 0) {
      throw new StatusError(
        'BadRequest',
        `previous terminated container "${container}" in pod "${name}" not found`,
      )
    }
    return join(pods.logDirectory(pod), containerLogPath(container, restartCount - 1))
  }
  // While the container waits for its restart, the last run's log is the useful one.
  if (
    state?.running !== undefined ||
    state?.terminated !== undefined ||
    lastState?.terminated !== undefined
  ) {
    return join(pods.logDirectory(pod), containerLogPath(container, restartCount))
  }
  const waiting = state?.waiting
  const reason = waiting?.reason === undefined ? '' : `: ${waiting.reason}`
  throw new StatusError(
    'BadRequest',
    `container "${container}" in pod "${name}" is waiting to start${reason}`,
  )
}
