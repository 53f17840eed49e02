import type { GroupResource, GroupVersionResource } from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { Cluster, DiscoveredResource } from '@skerry/client'

/** What the edge serves, as far as paths do not say it. */
export interface EdgeKinds {
  /** Undefined of a resource that the edge does not serve. */
  find(resource: GroupVersionResource, signal: AbortSignal): Promise<DiscoveredResource | undefined>
  /** The same, in whichever version. */
  findAny(resource: GroupResource, signal: AbortSignal): Promise<DiscoveredResource | undefined>
}

/** A kind may come, go and come back with another scope, so what is known is asked for again. */
const freshMs = 60_000
/** What was not there a moment ago is not asked for again at once. */
const absentMs = 5_000

export function createEdgeKinds(local: Cluster, clock: Pick<Clock, 'monotonicMs'>): EdgeKinds {
  let known: ReadonlyMap<string, DiscoveredResource> | undefined
  let readMs = 0
  const read = async (signal: AbortSignal): Promise<void> => {
    const { resources } = await local.discover(signal)
    known = new Map(
      resources.flatMap((each) => [
        [keyOf(each), each],
        [`${each.group}/${each.resource}`, each],
      ]),
    )
    readMs = clock.monotonicMs()
  }
  const fresh = async (key: string, signal: AbortSignal) => {
    const ageMs = clock.monotonicMs() - readMs
    const isFresh = known?.has(key) ? ageMs < freshMs : ageMs < absentMs
    if (known === undefined || !isFresh) await read(signal)
    return known?.get(key)
  }
  return {
    find: (resource, signal) => fresh(keyOf(resource), signal),
    findAny: ({ group, resource }, signal) => fresh(`${group}/${resource}`, signal),
  }
}

function keyOf({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`
}
