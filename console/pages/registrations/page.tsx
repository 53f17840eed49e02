/** How a cluster comes to the hub by itself: the command, and the agents that wait to be accepted. */
import { useEffect, useState } from 'react'
import { listPath, objectPath } from '../../data/api-paths.ts'
import { useRetry, useWatched } from '../../data/console-context.tsx'
import { asHubError, type HubError } from '../../data/hub-error.ts'
import { askHub } from '../../data/hub-request.ts'
import { hubNowMs } from '../../data/hub-clock.ts'
import {
  accepted,
  agentRequests,
  clusterAsked,
  isPending,
  registrationFacts,
  type AgentRequest,
} from '../../data/registration.ts'
import { readSigningRequest } from '../../data/signing-request.ts'
import { Age } from '../../parts/age.tsx'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const joinCommand = 'skerry cluster join-command NAME'

export function RegistrationsPage() {
  const texts = useTexts(both)
  const path = listPath(undefined, agentRequests)
  const view = useWatched(path)
  const retry = useRetry(path)
  // The API's own kind.
  const pending = ([...view.items.values()] as AgentRequest[]).filter(isPending)
  return (
    <PageFrame title={texts.title} view={view}>
      <section className="panel">
        <h2>{texts.connect}</h2>
        <p>{texts.connectHint}</p>
        <p className="command">
          <code>{joinCommand}</code>
          <CopyButton text={joinCommand} />
        </p>
      </section>
      <h2>{texts.waiting}</h2>
      {view.error === undefined ? undefined : <Failed error={view.error} onRetry={retry} />}
      {view.phase === 'loading' ? <Loading /> : undefined}
      {view.phase === 'live' && pending.length === 0 ? (
        <p className="muted">{texts.none}</p>
      ) : undefined}
      {pending.map((request) => (
        <Registration key={request.metadata.name} request={request} />
      ))}
    </PageFrame>
  )
}

function Registration({ request }: { readonly request: AgentRequest }) {
  const texts = useTexts(both)
  const [fault, setFault] = useState<HubError>()
  const fingerprint = useFingerprint(request)
  const { name, creationTimestamp = '' } = request.metadata
  const cluster = clusterAsked(request) ?? ''
  const { address, version, waitsFor } = registrationFacts(request)
  const accept = async (): Promise<void> => {
    setFault(undefined)
    try {
      const path = `${objectPath(undefined, { ...agentRequests, name })}/approval`
      await askHub(path, { method: 'PUT', body: accepted(request, hubNowMs()) })
    } catch (thrown) {
      setFault(asHubError(thrown))
    }
  }
  const reject = `skerry cluster reject ${cluster} --request ${name}`
  return (
    <section className="panel" aria-label={cluster}>
      <h2>{cluster}</h2>
      <Facts
        facts={[
          { name: texts.address, value: address || '–' },
          { name: texts.version, value: version || '–' },
          { name: texts.waitsFor, value: waitsFor || '–' },
          { name: texts.since, value: <Age atMs={Date.parse(creationTimestamp)} /> },
          {
            name: texts.fingerprint,
            value: <code>{fingerprint === '' ? texts.unreadable : fingerprint}</code>,
          },
        ]}
      />
      <p>{texts.compare}</p>
      {fault === undefined ? undefined : (
        <p className="fault" role="alert">
          {fault.message}
        </p>
      )}
      <p className="empty-actions">
        <button
          type="button"
          className="button is-main"
          disabled={fingerprint === undefined || fingerprint === ''}
          onClick={() => void accept()}
        >
          {texts.accept}
        </button>
      </p>
      <p className="muted">{texts.rejectHint}</p>
      <p className="command">
        <code>{reject}</code>
        <CopyButton text={reject} />
      </p>
    </section>
  )
}

/** Undefined while it is computed; empty if the request is not one. */
function useFingerprint({ spec }: AgentRequest): string | undefined {
  const [fingerprint, setFingerprint] = useState<string>()
  useEffect(() => {
    let isCurrent = true
    const show = (text: string): void => {
      if (isCurrent) setFingerprint(text)
    }
    void readSigningRequest(spec.request).then(
      (read) => show(read.fingerprint),
      () => show(''),
    )
    return () => {
      isCurrent = false
    }
  }, [spec.request])
  return fingerprint
}
