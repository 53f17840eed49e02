/** How a cluster comes to the hub by itself: the command or manifest, and the agents that wait to be accepted. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { listPath } from '../../data/api-paths.ts'
import { useRetry, useWatched } from '../../data/console-context.tsx'
import { asHubError } from '../../data/hub-error.ts'
import { askJson } from '../../data/hub-request.ts'
import {
  registrationsPath,
  signingRequests,
  undecided,
  type Registration,
  type SigningRequestObject,
} from '../../data/registration.ts'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { ImportPanel } from './import-panel.tsx'
import { RegistrationCard } from './registration-card.tsx'
import { texts as both } from './texts.ts'

export function RegistrationsPage() {
  const texts = useTexts(both)
  const path = listPath(undefined, signingRequests)
  const view = useWatched(path)
  const retry = useRetry(path)
  // The API's own kind.
  const waiting = undecided([...view.items.values()] as SigningRequestObject[])
  const { data, error, refetch } = useQuery({
    queryKey: [registrationsPath, waiting],
    enabled: view.phase === 'live',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => askJson<Answer>(registrationsPath, { signal }),
  })
  const registrations = data?.registrations ?? []
  return (
    <PageFrame title={texts.title} view={view}>
      <ImportPanel registrations={registrations} />
      <h2>{texts.waiting}</h2>
      {view.error === undefined ? undefined : <Failed error={view.error} onRetry={retry} />}
      {error === null ? undefined : (
        <Failed error={asHubError(error)} onRetry={() => void refetch()} />
      )}
      {view.phase === 'loading' ? <Loading /> : undefined}
      {view.phase === 'live' && data !== undefined && registrations.length === 0 ? (
        <p className="muted">{texts.none}</p>
      ) : undefined}
      {registrations.map((registration) => (
        <RegistrationCard
          key={registration.request}
          registration={registration}
          onDecided={() => void refetch()}
        />
      ))}
    </PageFrame>
  )
}

interface Answer {
  readonly registrations: readonly Registration[]
}
