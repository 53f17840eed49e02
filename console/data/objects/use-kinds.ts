import { useQuery } from '@tanstack/react-query'
import { objectPage, objectPath, type ObjectName } from '../hub/api-paths.ts'
import { discoveredKinds, discoveryType, type DiscoveredKind } from './discovered-kinds.ts'
import { versionOf, type BoundObject } from '../fleet/explanation.ts'
import { asHubError, type HubError } from '../hub/hub-error.ts'
import { askJson } from '../hub/hub-request.ts'

export interface KindsAnswer {
  readonly kinds: readonly DiscoveredKind[] | undefined
  readonly error: HubError | undefined
  readonly retry: () => void
}

/** The kinds of a cluster, or of the hub itself. */
export function useKinds(cluster: string | undefined): KindsAnswer {
  const base = cluster === undefined ? '' : `/clusters/${encodeURIComponent(cluster)}`
  const { data, error, refetch } = useQuery({
    queryKey: ['kinds', cluster],
    queryFn: async ({ signal }) => {
      const ask = (path: string): Promise<object> =>
        askJson<object>(`${base}${path}`, { accept: discoveryType, signal })
      return discoveredKinds(await Promise.all([ask('/api'), ask('/apis')]))
    },
  })
  return {
    kinds: data,
    error: error === null ? undefined : asHubError(error),
    retry: () => void refetch(),
  }
}

/** Finds an object of the hub by its kind. Undefined before discovery has answered, or if the hub has no such kind. */
export function useNamed(
  bound: BoundObject,
): { readonly path: string; readonly page: string } | undefined {
  const { kinds } = useKinds(undefined)
  const { group, version } = versionOf(bound.apiVersion)
  const found = kinds?.find((each) => each.group === group && each.kind === bound.kind)
  if (found === undefined) return undefined
  const { namespace, name } = bound
  const object: ObjectName = {
    group,
    version,
    resource: found.resource,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  }
  return { path: objectPath(undefined, object), page: objectPage(undefined, object) }
}
