/** How a cluster comes to the hub by itself: the command or manifest, and the agents that wait to be accepted. */
import { useRegistrations } from '../../data/edge/use-registrations.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { ImportPanel } from './import-panel.tsx'
import { RegistrationCard } from './registration-card.tsx'
import { texts as both } from './texts.ts'

const register = {
  verb: 'create',
  object: {
    group: 'hub.skerry.io',
    version: 'v1alpha1',
    resource: 'clusterregistrations',
    name: '',
  },
}

export function RegistrationsPage() {
  const texts = useTexts(both)
  const { view, registrations, error, retryList, refresh } = useRegistrations()
  return (
    <PageFrame title={texts.title} view={view}>
      <Allowed action={register} isExplained>
        <ImportPanel registrations={registrations ?? []} />
      </Allowed>
      <h2>{texts.waiting}</h2>
      {view.error === undefined ? undefined : <Failed error={view.error} onRetry={retryList} />}
      {error === undefined ? undefined : <Failed error={error} onRetry={refresh} />}
      {view.phase === 'loading' ? <Loading /> : undefined}
      {view.phase === 'live' && registrations?.length === 0 ? (
        <p className="muted">{texts.none}</p>
      ) : undefined}
      {registrations?.map((registration) => (
        <RegistrationCard
          key={registration.request}
          registration={registration}
          onDecided={refresh}
        />
      ))}
    </PageFrame>
  )
}
