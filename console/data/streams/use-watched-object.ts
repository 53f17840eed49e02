import { listPath, type ObjectName } from '../hub/api-paths.ts'
import { useRetry, useWatched } from './console-context.tsx'
import type { ListView } from './watched-list.ts'

/** Watches one object of the hub or of a cluster, which the caller describes. Undefined watches nothing. */
export function useWatchedObject<Kind>(
  name: ObjectName | undefined,
  cluster?: string,
): {
  readonly object: Kind | undefined
  readonly view: ListView
  /** Asks again after an error. */
  readonly retry: () => void
} {
  const path = name === undefined ? undefined : watchPath(name, cluster)
  const view = useWatched(path)
  const retry = useRetry(path ?? '')
  const item =
    name === undefined ? undefined : view.items.get(`${name.namespace ?? ''}/${name.name}`)
  // The API's own object.
  return { object: item as Kind | undefined, view, retry }
}

function watchPath(name: ObjectName, cluster: string | undefined): string {
  const query = new URLSearchParams({ fieldSelector: `metadata.name=${name.name}` })
  return `${listPath(cluster, name, name.namespace)}?${query.toString()}`
}
