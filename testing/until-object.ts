import type { KubeObject } from '@skerry/api'
import { unlessAborted } from '@skerry/base'
import type { ClusterClient, Informer, ObjectKey, TypedResource } from '@skerry/client'

/** An object's resource and key. */
export interface ObjectPlace<T extends KubeObject> {
  readonly resource: TypedResource<T>
  readonly key: ObjectKey
}

/**
 * Follows an object with a watch until it is as wanted; undefined stands for an object that does not exist. Rejects with
 * the object's last state when the signal aborts.
 */
export async function untilObject<T extends KubeObject>(
  api: Pick<ClusterClient, 'resource'>,
  { resource, key }: ObjectPlace<T>,
  isWanted: (object: T | undefined) => boolean,
  signal: AbortSignal,
): Promise<T | undefined> {
  const { name, namespace } = key
  const request = {
    fieldSelector: `metadata.name=${name}`,
    ...(namespace ? { namespace } : {}),
  }
  const { items, metadata } = await api.resource(resource).list(request, signal)
  let [last] = items
  if (isWanted(last)) return last
  const watched = { ...request, resourceVersion: metadata.resourceVersion ?? '' }
  try {
    for await (const event of api.resource(resource).watch(watched, signal)) {
      if (event.type === 'BOOKMARK') continue
      last = event.type === 'DELETED' ? undefined : event.object
      if (isWanted(last)) return last
    }
  } catch (cause) {
    throw new Error(`${resource.resource} "${name}" is ${JSON.stringify(last)}`, { cause })
  }
  throw new Error(`Cannot wait for ${resource.resource} "${name}": the watch has ended`)
}

/** The bound is only a guard: a test that reaches it has failed. */
const guardMs = 60_000

/** Looks at an informer's objects after each change until `see` finds what it looks for. */
export async function untilSeen<T extends KubeObject, Found>(
  informer: Pick<Informer<T>, 'list' | 'onChange'>,
  see: (objects: readonly T[]) => Found | undefined,
  signal: AbortSignal = AbortSignal.timeout(guardMs),
): Promise<Found> {
  const seen = Promise.withResolvers<Found>()
  const look = (): void => {
    const found = see(informer.list())
    if (found !== undefined) seen.resolve(found)
  }
  using _subscription = informer.onChange(look)
  look()
  try {
    return await unlessAborted(seen.promise, signal)
  } catch (cause) {
    if (!signal.aborted) throw cause
    throw new Error(`Not seen in time: ${JSON.stringify(informer.list())}`, { cause })
  }
}
