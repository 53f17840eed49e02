import { useQuery } from '@tanstack/react-query'
import { explainPath, type BoundObject, type Explanation } from '../../data/fleet/explanation.ts'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { timeLimits } from '../../limits-table.ts'

export interface ExplanationAnswer {
  readonly data: Explanation | undefined
  readonly error: HubError | undefined
  readonly retry: () => void
}

/** Asks the hub why an object is where it is, again and again: the answer depends on the whole fleet. */
export function useExplanation(bound: BoundObject): ExplanationAnswer {
  const path = explainPath(bound)
  const { data, error, refetch } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => askJson<Explanation>(path, { signal }),
    refetchInterval: timeLimits.explainAgainMs,
  })
  return {
    data,
    error: error === null ? undefined : asHubError(error),
    retry: () => void refetch(),
  }
}
