import { isJsonObject, type JsonObject } from '@skerry/api'
import type { AggregatedStatusItem } from '@skerry/karmada-kinds'
import { objectsAt, textAt } from '@skerry/fleet-kinds'

/** Combines the pods of all clusters, with the worst phase of them. Returns undefined while there are none. */
export function aggregatedPod(items: readonly AggregatedStatusItem[]): JsonObject | undefined {
  if (items.length === 0) return undefined
  const phase = firstOf(items, ['Failed', 'Pending', 'Running', 'Succeeded'])
  const containers = containersOf(items, 'containerStatuses')
  const initContainers = containersOf(items, 'initContainerStatuses')
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(containers.length > 0 ? { containerStatuses: containers } : {}),
    ...(initContainers.length > 0 ? { initContainerStatuses: initContainers } : {}),
  }
}

export function aggregatedVolume(items: readonly AggregatedStatusItem[]): JsonObject {
  const phase = firstOf(items, ['Failed', 'Pending', 'Available', 'Bound', 'Released'])
  return phase === undefined ? {} : { phase }
}

/** Returns Bound unless a copy reports otherwise, and Lost as soon as one does. */
export function aggregatedClaim(items: readonly AggregatedStatusItem[]): JsonObject {
  const phases = items
    .filter(({ status }) => isJsonObject(status))
    .map(({ status }) => textAt(status, 'phase'))
  if (phases.includes('Lost')) return { phase: 'Lost' }
  const phase = phases.findLast((each) => each !== 'Bound') ?? 'Bound'
  return phase === '' ? {} : { phase }
}

/** A copy without a report counts as Pending. */
function firstOf(
  items: readonly AggregatedStatusItem[],
  worstFirst: readonly string[],
): string | undefined {
  const phases = new Set(
    items.map(({ status }) => (isJsonObject(status) ? textAt(status, 'phase') : 'Pending')),
  )
  return worstFirst.find((phase) => phases.has(phase))
}

/** Keeps only ready and state: names and images are those of the template. */
function containersOf(items: readonly AggregatedStatusItem[], field: string): JsonObject[] {
  return items
    .flatMap(({ status }) => objectsAt(status, field))
    .map(({ ready, state }) => ({
      name: '',
      state: isJsonObject(state) ? state : {},
      lastState: {},
      ready: ready === true,
      restartCount: 0,
      image: '',
      imageID: '',
    }))
}
