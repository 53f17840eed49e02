/** How a cluster is being made of machines: its steps, live, and what a person may ask for. */
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { listPath, objectPath } from '../../data/api-paths.ts'
import { useWatched } from '../../data/console-context.tsx'
import {
  edgeClusters,
  leadingStep,
  shownKeys,
  stepsDone,
  stepText,
  wishPatch,
  type EdgeClusterObject,
  type EdgeStep,
  type EdgeWish,
} from '../../data/edge-cluster.ts'
import { asHubError, type HubError } from '../../data/hub-error.ts'
import { askHub } from '../../data/hub-request.ts'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { HostKeys } from '../../parts/host-keys.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { DeleteButton } from './delete-button.tsx'
import { JoinManifest } from './join-manifest.tsx'
import { Logins } from './logins.tsx'
import { MachineTable } from './machine-table.tsx'
import { StepList } from './step-list.tsx'
import { texts as both } from './texts.ts'

type Ask = (wish: EdgeWish) => void

export function EdgeClusterPage() {
  const texts = useTexts(both)
  const { namespace = '', name = '' } = useParams()
  const selector = encodeURIComponent(`metadata.name=${name}`)
  const view = useWatched(
    `${listPath(undefined, edgeClusters, namespace)}?fieldSelector=${selector}`,
  )
  const [fault, setFault] = useState<HubError>()
  // The hub's own kind.
  const edge = view.items.get(`${namespace}/${name}`) as EdgeClusterObject | undefined
  const above = <Link href="/edge-clusters">{texts.above}</Link>
  if (view.error !== undefined) return <Failed error={view.error} />
  if (edge === undefined) {
    return (
      <PageFrame title={name} above={above}>
        {view.phase === 'loading' ? <Loading /> : <Empty title={texts.missing} />}
      </PageFrame>
    )
  }
  const path = objectPath(undefined, { ...edgeClusters, namespace, name })
  const ask: Ask = (wish) => {
    setFault(undefined)
    const body = wishPatch(wish)
    const contentType = 'application/merge-patch+json'
    void askHub(path, { method: 'PATCH', body, contentType }).catch((thrown: unknown) =>
      setFault(asHubError(thrown)),
    )
  }
  return (
    <PageFrame
      title={name}
      above={above}
      view={view}
      mark={<Progress edge={edge} />}
      actions={<Actions edge={edge} ask={ask} />}
    >
      {fault === undefined ? undefined : (
        <p className="fault" role="alert">
          {fault.message}
        </p>
      )}
      {edge.status?.capacity === undefined ? undefined : (
        <p className="muted">{edge.status.capacity}</p>
      )}
      <HostKeys keys={shownKeys(edge)} ask={ask} />
      {edge.spec.import !== undefined && edge.status?.phase !== 'Ready' ? (
        <JoinManifest edge={edge} />
      ) : undefined}
      <MachineTable edge={edge} />
      <Steps steps={edge.status?.steps ?? []} ask={ask} />
      <Logins edge={edge} />
    </PageFrame>
  )
}

function Progress({ edge }: { readonly edge: EdgeClusterObject }) {
  const texts = useTexts(both)
  const { done, total } = stepsDone(edge.status?.steps ?? [])
  return (
    <>
      <span>{edge.status?.phase}</span>
      <span className="muted">{texts.progress(done, total)}</span>
    </>
  )
}

interface ActionsProps {
  readonly edge: EdgeClusterObject
  readonly ask: Ask
}

function Actions({ edge, ask }: ActionsProps) {
  const texts = useTexts(both)
  const { phase, clusterName, steps = [] } = edge.status ?? {}
  const isPaused = edge.spec.paused === true
  const isOver = ['Ready', 'Checked', 'Cancelled', 'Deleting'].includes(phase ?? '')
  return (
    <>
      {steps.some(({ state }) => state === 'Failed') ? (
        <button
          type="button"
          className="button is-main"
          onClick={() => ask({ ask: 'retry', step: 'all' })}
        >
          {texts.retryAll}
        </button>
      ) : undefined}
      {isOver ? undefined : (
        <>
          <button
            type="button"
            className="button"
            onClick={() => ask({ ask: isPaused ? 'resume' : 'pause' })}
          >
            {isPaused ? texts.resume : texts.pause}
          </button>
          <button type="button" className="button is-bad" onClick={() => ask({ ask: 'cancel' })}>
            {texts.cancel}
          </button>
        </>
      )}
      {clusterName !== undefined && phase === 'Ready' ? (
        <>
          {edge.spec.import === undefined ? (
            <Link
              href={`/clusters/${encodeURIComponent(clusterName)}/add-nodes`}
              className="button"
            >
              {texts.addMachines}
            </Link>
          ) : undefined}
          <Link href={`/clusters/${encodeURIComponent(clusterName)}`} className="button is-main">
            {texts.toCluster}
          </Link>
        </>
      ) : undefined}
      {phase === 'Checked' ? (
        <button type="button" className="button is-main" onClick={() => ask({ ask: 'make' })}>
          {texts.make}
        </button>
      ) : undefined}
      {edge.metadata.deletionTimestamp === undefined ? <DeleteButton edge={edge} /> : undefined}
    </>
  )
}

interface StepsProps {
  readonly steps: readonly EdgeStep[]
  readonly ask: Ask
}

function Steps({ steps, ask }: StepsProps) {
  const [chosen, setChosen] = useState<string>()
  const step = steps.find((each) => stepText(each) === chosen) ?? leadingStep(steps)
  return (
    <div className="steps">
      <StepList
        steps={steps}
        chosen={step === undefined ? '' : stepText(step)}
        onChoose={setChosen}
      />
      {step === undefined ? undefined : <StepOutput step={step} ask={ask} />}
    </div>
  )
}

function StepOutput({ step, ask }: { readonly step: EdgeStep; readonly ask: Ask }) {
  const texts = useTexts(both)
  const isStuck = step.state === 'Failed' || (step.state === 'Waiting' && (step.attempt ?? 0) > 0)
  return (
    <section className="panel step-output" aria-label={texts.output}>
      <h2>
        {step.name} <span className="muted">{step.machine ?? texts.hub}</span>
      </h2>
      {step.message === undefined ? undefined : <p className="empty-text">{step.message}</p>}
      {step.findings === undefined || step.findings.length === 0 ? undefined : (
        <ul className="findings" aria-label={texts.findings}>
          {step.findings.map((finding) => (
            <li key={finding}>{finding}</li>
          ))}
        </ul>
      )}
      {isStuck ? (
        <p className="empty-actions">
          <button type="button" className="button" onClick={() => ask({ ask: 'retry', step })}>
            {texts.retry}
          </button>
          {step.machine === undefined ? undefined : (
            <button type="button" className="button" onClick={() => ask({ ask: 'skip', step })}>
              {texts.skip}
            </button>
          )}
        </p>
      ) : undefined}
      {step.output === undefined || step.output === '' ? (
        <p className="muted">{texts.noOutput}</p>
      ) : (
        <pre tabIndex={0}>{step.output}</pre>
      )}
    </section>
  )
}
