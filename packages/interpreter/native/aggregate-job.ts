import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import type { AggregatedStatusItem } from '@skerry/karmada-kinds'
import { countAt, fieldAt, objectsAt, textAt } from '@skerry/fleet-kinds'

/**
 * Combines the statuses of a Job: it is complete when it is complete everywhere, and failed when it failed
 * anywhere. Returns undefined once it is finished, because nothing changes any more. The conditions' times
 * are the latest of the copies, so that the same copies give the same status.
 */
export function aggregatedJob(
  template: AnyObject,
  items: readonly AggregatedStatusItem[],
): JsonObject | undefined {
  if (finishOf(fieldAt(template, 'status')) !== undefined) return undefined
  const told = items.filter(({ status }) => isJsonObject(status))
  const count = (field: string) =>
    told.reduce((total, { status }) => total + countAt(status, field), 0)
  const startTime = textAt(template, 'status', 'startTime') || earliestStart(items)
  const completed = timesOf(items, 'completionTime')
  const completionTime = completed.length === items.length ? completed.at(-1) : undefined
  const conditions = conditionsOf(items)
  const counts = ['active', 'succeeded', 'failed']
    .map((field) => [field, count(field)] as const)
    .filter(([, total]) => total > 0)
  return {
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(startTime ? { startTime } : {}),
    ...(completionTime ? { completionTime } : {}),
    ...Object.fromEntries(counts),
  }
}

type Finish = 'Complete' | 'Failed'

function finishOf(status: unknown): Finish | undefined {
  const type = objectsAt(status, 'conditions').find(
    (condition) =>
      ['Complete', 'Failed'].includes(textAt(condition, 'type')) &&
      textAt(condition, 'status') === 'True',
  )?.['type']
  return type === 'Complete' || type === 'Failed' ? type : undefined
}

function conditionsOf(items: readonly AggregatedStatusItem[]): JsonObject[] {
  const failed = items.filter(({ status }) => finishOf(status) === 'Failed')
  const isComplete =
    items.length > 0 && items.every(({ status }) => finishOf(status) === 'Complete')
  const areCriteriaMet = items.every(({ status }) => hasMetCriteria(status))
  const names = failed.map(({ clusterName }) => clusterName).join(',')
  const condition = (type: string, reason: string, message: string): JsonObject => {
    const time = lastTransition(items)
    const times = time === undefined ? {} : { lastProbeTime: time, lastTransitionTime: time }
    return { type, status: 'True', ...times, reason, message }
  }
  return [
    ...(failed.length > 0
      ? [condition('Failed', 'JobFailed', `Job executed failed in member clusters ${names}`)]
      : []),
    ...(isComplete ? [condition('Complete', 'Completed', 'Job completed')] : []),
    ...(isComplete && areCriteriaMet
      ? [
          condition(
            'SuccessCriteriaMet',
            'CompletionsReached',
            'All member clusters have met success criteria',
          ),
        ]
      : []),
  ]
}

function hasMetCriteria(status: unknown): boolean {
  return objectsAt(status, 'conditions').some(
    (condition) =>
      textAt(condition, 'type') === 'SuccessCriteriaMet' && textAt(condition, 'status') === 'True',
  )
}

function lastTransition(items: readonly AggregatedStatusItem[]): string | undefined {
  const times = items.flatMap(({ status }) =>
    objectsAt(status, 'conditions').map((condition) => textAt(condition, 'lastTransitionTime')),
  )
  return inOrder(times).at(-1)
}

/** Returns the earliest start once all have started. */
function earliestStart(items: readonly AggregatedStatusItem[]): string | undefined {
  const times = timesOf(items, 'startTime')
  return times.length === items.length ? times[0] : undefined
}

function timesOf(items: readonly AggregatedStatusItem[], field: string): string[] {
  return inOrder(items.map(({ status }) => textAt(status, field)))
}

function inOrder(times: readonly string[]): string[] {
  return times.filter((time) => time !== '').toSorted((a, b) => Date.parse(a) - Date.parse(b))
}
