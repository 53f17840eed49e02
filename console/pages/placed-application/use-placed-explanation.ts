import { useQuery } from '@tanstack/react-query'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import {
  explanationPath,
  type PlacedApplication,
  type PlacedExplanation,
} from '../../data/places/placed-application.ts'
import { timeLimits } from '../../limits-table.ts'

export interface PlacedAnswer {
  readonly data: PlacedExplanation | undefined
  readonly error: HubError | undefined
  readonly retry: () => void
}

export interface Placed {
  readonly cluster: string
  readonly kind: string
  readonly app: PlacedApplication
}

/** Asks the hub what the children of an application differ by: now, after each change of its state, and from time to time. */
export function usePlacedExplanation({ cluster, kind, app }: Placed): PlacedAnswer {
  const { namespace = '', name } = app.metadata
  const path = explanationPath(cluster, { kind, namespace, name })
  const { data, error, refetch } = useQuery({
    queryKey: [path, app.metadata.resourceVersion],
    queryFn: ({ signal }) => askJson<PlacedExplanation>(path, { signal }),
    placeholderData: (before) => before,
    refetchInterval: timeLimits.explainAgainMs,
  })
  return {
    data,
    error: error === null ? undefined : asHubError(error),
    retry: () => void refetch(),
  }
}
