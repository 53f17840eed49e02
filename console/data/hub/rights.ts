import { useQuery } from '@tanstack/react-query'
import { listPath, type ObjectName } from './api-paths.ts'
import { timeLimits } from '../../limits-table.ts'
import { askJson } from './hub-request.ts'

export interface Action {
  readonly verb: string
  readonly object: ObjectName
  /** Such as `log`, `exec`. */
  readonly subresource?: string
}

const reviews = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'selfsubjectaccessreviews',
}

interface Review {
  readonly status?: { readonly allowed?: boolean }
}

/** The first word of the keys of these questions. */
export const rightsKey = 'may'

/**
 * Asks the server whether the user may do something, so that a page shows the right buttons. Undefined before the answer;
 * the server decides again when the button is used. A page that is opened later asks again.
 */
export function useMay(cluster: string | undefined, action: Action): boolean | undefined {
  const { object, verb, subresource = '' } = action
  const { group, version, resource, namespace = '', name } = object
  const resourceAttributes = { verb, group, version, resource, subresource, namespace, name }
  const { data } = useQuery({
    queryKey: [rightsKey, cluster, resourceAttributes],
    staleTime: timeLimits.rightsMs,
    queryFn: ({ signal }) =>
      askJson<Review>(listPath(cluster, reviews), {
        method: 'POST',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes },
        },
        signal,
      }),
  })
  return data?.status?.allowed
}
