import { isFields, type Fields, type KubeFields } from './story-api.ts'

/** The reports that a kubelet may make on a pod; each is a word of stories. */
export type PodEvent = 'run' | 'start' | 'unready' | 'succeed' | 'fail'

export const podEvents: readonly string[] = ['run', 'start', 'unready', 'succeed', 'fail']

/** Reports whether this has yet to happen to the pod, so that a story may apply it to "the next two". */
export function isAhead(event: PodEvent, pod: KubeFields): boolean {
  const phase = phaseOf(pod)
  if (phase === 'Succeeded' || phase === 'Failed') return false
  if (event === 'succeed' || event === 'fail') return true
  if (isTerminating(pod)) return false
  if (event === 'run') return !isReady(pod)
  if (event === 'start') return phase === 'Pending'
  return isReady(pod)
}

export function isTerminating({ metadata }: KubeFields): boolean {
  return metadata['deletionTimestamp'] !== undefined
}

/** A status that a kubelet would write; `time` is RFC 3339 in seconds. */
export function statusAfter(
  event: PodEvent,
  pod: KubeFields,
  { time, exitCode }: { time: string; exitCode: number },
): Fields {
  const isReadyNow = event === 'run'
  const isOver = event === 'succeed' || event === 'fail'
  const ready = { status: isReadyNow ? 'True' : 'False', lastTransitionTime: time }
  const state = isOver
    ? { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt: time } }
    : { running: { startedAt: time } }
  const containers = asArray(asFields(pod['spec'])['containers'])
  return {
    phase: event === 'succeed' ? 'Succeeded' : event === 'fail' ? 'Failed' : 'Running',
    startTime: asFields(pod['status'])['startTime'] ?? time,
    conditions: [
      ...keptConditions(pod),
      { type: 'Ready', ...ready },
      { type: 'ContainersReady', ...ready },
    ],
    containerStatuses: containers.map((container) => ({
      name: asFields(container)['name'],
      image: asFields(container)['image'],
      imageID: '',
      ready: isReadyNow,
      started: isReadyNow,
      restartCount: 0,
      state,
    })),
  }
}

function keptConditions(pod: KubeFields): unknown[] {
  return asArray(asFields(pod['status'])['conditions']).filter((condition) => {
    const { type } = asFields(condition)
    return type !== 'Ready' && type !== 'ContainersReady'
  })
}

function phaseOf(pod: KubeFields): unknown {
  return asFields(pod['status'])['phase']
}

function isReady(pod: KubeFields): boolean {
  return asArray(asFields(pod['status'])['conditions']).some((condition) => {
    const { type, status } = asFields(condition)
    return type === 'Ready' && status === 'True'
  })
}

function asFields(value: unknown): Fields {
  return isFields(value) ? value : {}
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
