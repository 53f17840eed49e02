import { isJsonObject, type JsonObject } from '@skerry/api'
import type { AggregatedStatusItem } from '@skerry/karmada-kinds'
import { objectsAt, textAt } from '@skerry/fleet-kinds'

/** Pods of all clusters as one: as bad as the worst of them. Undefined while there are none. */
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

/** Bound when no copy says otherwise; lost as soon as one is. */
export function aggregatedClaim(items: readonly AggregatedStatusItem[]): JsonObject {
  const phases = items
    .filter(({ status }) => isJsonObject(status))
    .map(({ status }) => textAt(status, 'phase'))
  if (phases.includes('Lost')) return { phase: 'Lost' }
  const phase = phases.findLast((each) => each !== 'Bound') ?? 'Bound'
  return phase === '' ? {} : { phase }
}

/** A copy that has told nothing yet is pending. */
function firstOf(
  items: readonly AggregatedStatusItem[],
  worstFirst: readonly string[],
): string | undefined {
  const phases = new Set(
    items.map(({ status }) => (isJsonObject(status) ? textAt(status, 'phase') : 'Pending')),
  )
  return worstFirst.find((phase) => phases.has(phase))
}

/** Ready and state alone: names and images are those of the template. */
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
