import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { listPath } from '../hub/api-paths.ts'
import { useRetry, useWatched } from '../streams/console-context.tsx'
import { asHubError, type HubError } from '../hub/hub-error.ts'
import { askJson } from '../hub/hub-request.ts'
import {
  registrationsPath,
  signingRequests,
  undecided,
  type Registration,
  type SigningRequestObject,
} from './registration.ts'
import { useMay } from '../hub/rights.ts'
import type { ListView } from '../streams/watched-list.ts'

export interface Registrations {
  readonly view: ListView
  /** Undefined until the hub has described all that wait. */
  readonly registrations: readonly Registration[] | undefined
  /** Why the hub did not describe them. */
  readonly error: HubError | undefined
  readonly retryList: () => void
  readonly refresh: () => void
}

const path = listPath(undefined, signingRequests)

/** Watches for agents that wait to be accepted. `isOn` is false for people who may not see them. */
export function useRegistrations(isOn = true): Registrations {
  const view = useWatched(isOn ? path : undefined)
  const retryList = useRetry(path)
  // The API's own kind.
  const waiting = undecided([...view.items.values()] as SigningRequestObject[])
  const { data, error, refetch } = useQuery({
    queryKey: [registrationsPath, waiting],
    enabled: view.phase === 'live' && waiting.length > 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      askJson<{ readonly registrations: readonly Registration[] }>(registrationsPath, { signal }),
  })
  const isNone = view.phase === 'live' && waiting.length === 0
  return {
    view,
    registrations: isNone ? [] : data?.registrations,
    error: error === null || isNone ? undefined : asHubError(error),
    retryList,
    refresh: () => void refetch(),
  }
}

/** Counts the agents that wait for somebody with the user's rights. */
export function useWaitingAgents(): number {
  const isOn = useMay(undefined, { verb: 'list', object: { ...signingRequests, name: '' } })
  return useRegistrations(isOn === true).registrations?.length ?? 0
}
