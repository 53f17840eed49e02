import { StatusError, type GroupResource, type GroupVersionResource } from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { ClusterClient, DiscoveredResource } from '@skerry/client'
import { virtualClusterBounds } from '../limits-table.ts'

/** The kinds that the edge serves, where the path does not show them. */
export interface EdgeKinds {
  /**
   * Resolves undefined if the edge does not serve the resource. Throws StatusError ServiceUnavailable if the
   * edge delegates the group to a server that does not answer, so that the kinds are unknown.
   */
  find(resource: GroupVersionResource, signal: AbortSignal): Promise<DiscoveredResource | undefined>
  /** Resolves undefined if the edge serves the resource in no version, as far as it can be seen. */
  findAny(resource: GroupResource, signal: AbortSignal): Promise<DiscoveredResource | undefined>
}

const { freshMs, absentMs } = virtualClusterBounds.edgeKinds

export function createEdgeKinds(
  local: ClusterClient,
  clock: Pick<Clock, 'monotonicMs'>,
): EdgeKinds {
  let known: ReadonlyMap<string, DiscoveredResource> | undefined
  let away: ReadonlySet<string> = new Set()
  let readMs = 0
  const read = async (signal: AbortSignal): Promise<void> => {
    const { resources, stale } = await local.discover(signal)
    known = new Map(
      resources.flatMap((each) => [
        [keyOf(each), each],
        [`${each.group}/${each.resource}`, each],
      ]),
    )
    away = new Set(stale.map(({ group, version }) => `${group}/${version}`))
    readMs = clock.monotonicMs()
  }
  const fresh = async (key: string, signal: AbortSignal) => {
    const ageMs = clock.monotonicMs() - readMs
    const isFresh = known?.has(key) ? ageMs < freshMs : ageMs < absentMs
    if (known === undefined || !isFresh) await read(signal)
    return known?.get(key)
  }
  return {
    async find(resource, signal) {
      const found = await fresh(keyOf(resource), signal)
      if (found === undefined && away.has(`${resource.group}/${resource.version}`)) {
        throw serverAway(resource)
      }
      return found
    },
    findAny: ({ group, resource }, signal) => fresh(`${group}/${resource}`, signal),
  }
}

function serverAway({ group, version }: GroupVersionResource): StatusError {
  const text = `Cannot reach the server of ${group}/${version}: it does not answer; look at APIService "${version}.${group}" of the edge cluster`
  return new StatusError('ServiceUnavailable', text)
}

function keyOf({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`
}
