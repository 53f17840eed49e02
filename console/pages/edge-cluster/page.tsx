/** How a cluster is being made of machines: its steps, live, and what a person may ask for. */
import { Link } from 'wouter'
import { usePathWords } from '../../data/browser/use-path-words.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { listPath, objectPath } from '../../data/hub/api-paths.ts'
import { useRetry, useWatched } from '../../data/streams/console-context.tsx'
import {
  changeOf,
  edgeClusters,
  leadingStep,
  maySkip,
  stepsDone,
  stepText,
  wishPatch,
  type EdgeClusterObject,
  type EdgePhase,
  type EdgeStep,
  type EdgeWish,
} from '../../data/edge/edge-cluster.ts'
import { isPaused } from '../../data/edge/pause.ts'
import { askHub } from '../../data/hub/hub-request.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { Empty, Loading } from '../../parts/answer-state.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { HostKeys } from '../../parts/host-keys.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { WordMark, type Tone } from '../../parts/state-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { useTexts } from '../../words/language.ts'
import { DeleteButton } from './delete-button.tsx'
import { JoinManifest } from './join-manifest.tsx'
import { Logins } from './logins.tsx'
import { MachineTable } from './machine-table.tsx'
import { placeWords } from './place-words.ts'
import { StepList } from './step-list.tsx'
import { texts as both } from './texts.ts'

type Ask = (wish: EdgeWish) => void

export function EdgeClusterPage() {
  const texts = useTexts(both)
  const { namespace = '', name = '' } = usePathWords()
  const selector = encodeURIComponent(`metadata.name=${name}`)
  const list = `${listPath(undefined, edgeClusters, namespace)}?fieldSelector=${selector}`
  const view = useWatched(list)
  const retry = useRetry(list)
  const action = useAction()
  // The hub's own kind.
  const edge = view.items.get(`${namespace}/${name}`) as EdgeClusterObject | undefined
  const above = <Link href="/edge-clusters">{texts.above}</Link>
  if (view.error !== undefined) {
    return <FailedPage title={name} above={above} error={view.error} onRetry={retry} />
  }
  if (edge === undefined) {
    return (
      <PageFrame title={name} above={above}>
        {view.phase === 'loading' ? <Loading /> : <Empty title={texts.missing} />}
      </PageFrame>
    )
  }
  const path = objectPath(undefined, { ...edgeClusters, namespace, name })
  const send = async (wish: EdgeWish): Promise<void> => {
    const contentType = 'application/merge-patch+json'
    await askHub(path, { method: 'PATCH', body: wishPatch(wish), contentType })
  }
  const ask: Ask = (wish) => void action.run(() => send(wish))
  return (
    <PageFrame
      title={name}
      above={above}
      view={view}
      mark={<Progress edge={edge} />}
      actions={<Actions edge={edge} ask={ask} send={send} />}
    >
      <FaultLine fault={action.fault} />
      {edge.status?.capacity === undefined ? undefined : (
        <p className="muted">{edge.status.capacity}</p>
      )}
      <HostKeys edge={edge} ask={ask} />
      {edge.spec.import !== undefined && edge.status?.phase !== 'Ready' ? (
        <JoinManifest edge={edge} />
      ) : undefined}
      <MachineTable edge={edge} />
      <Steps edge={edge} ask={ask} />
      <Logins edge={edge} />
    </PageFrame>
  )
}

const tones: Readonly<Record<EdgePhase, Tone>> = {
  Pending: 'off',
  Running: 'busy',
  Waiting: 'warn',
  Paused: 'off',
  Cancelled: 'off',
  Failed: 'bad',
  Checked: 'ok',
  Ready: 'ok',
  Deleting: 'busy',
}

function Progress({ edge }: { readonly edge: EdgeClusterObject }) {
  const texts = useTexts(both)
  const { phase, steps = [] } = edge.status ?? {}
  const { done, total } = stepsDone(steps)
  return (
    <>
      {phase === undefined ? undefined : (
        <WordMark tone={tones[phase]}>{texts.phases[phase]}</WordMark>
      )}
      <span className="muted">{texts.progress(done, total)}</span>
    </>
  )
}

interface ActionsProps {
  readonly edge: EdgeClusterObject
  readonly ask: Ask
  readonly send: (wish: EdgeWish) => Promise<void>
}

function Actions({ edge, ask, send }: ActionsProps) {
  return (
    <>
      <Allowed action={changeOf(edge)} isExplained>
        <Wishes edge={edge} ask={ask} send={send} />
      </Allowed>
      <Ways edge={edge} />
      {edge.metadata.deletionTimestamp === undefined ? (
        <Allowed action={changeOf(edge, 'delete')}>
          <DeleteButton edge={edge} />
        </Allowed>
      ) : undefined}
    </>
  )
}

function Wishes({ edge, ask, send }: ActionsProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const cancel = useAction()
  const { phase, steps = [] } = edge.status ?? {}
  const isHeldUp = isPaused(edge)
  const isOver = ['Ready', 'Checked', 'Cancelled', 'Deleting'].includes(phase ?? '')
  return (
    <>
      {steps.some(({ state }) => state === 'Failed' || state === 'Cancelled') ? (
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
            onClick={() => ask({ ask: isHeldUp ? 'resume' : 'pause' })}
          >
            {isHeldUp ? texts.resume : texts.pause}
          </button>
          <ConfirmButton label={texts.cancel} action={cancel} act={() => send({ ask: 'cancel' })}>
            <p>{texts.cancelText}</p>
            <p>
              <CopyButton
                label={words.asCommand}
                text={`skerry edge-cluster cancel ${edge.metadata.name}${placeWords(edge)}`}
              />
            </p>
          </ConfirmButton>
        </>
      )}
      {phase === 'Checked' ? (
        <button type="button" className="button is-main" onClick={() => ask({ ask: 'make' })}>
          {texts.make}
        </button>
      ) : undefined}
    </>
  )
}

/** Leads to the cluster that was made. */
function Ways({ edge }: Pick<ActionsProps, 'edge'>) {
  const texts = useTexts(both)
  const { phase, clusterName } = edge.status ?? {}
  if (clusterName === undefined || phase !== 'Ready') return undefined
  const page = `/clusters/${encodeURIComponent(clusterName)}`
  return (
    <>
      {edge.spec.import === undefined ? (
        <Allowed action={changeOf(edge)}>
          <Link href={`${page}/add-nodes`} className="button">
            {texts.addMachines}
          </Link>
        </Allowed>
      ) : undefined}
      <Link href={page} className="button is-main">
        {texts.toCluster}
      </Link>
    </>
  )
}

interface StepsProps {
  readonly edge: EdgeClusterObject
  readonly ask: Ask
}

function Steps({ edge, ask }: StepsProps) {
  const steps = edge.status?.steps ?? []
  const [values, setValues] = useUrlValues()
  const step = steps.find((each) => stepText(each) === values.step) ?? leadingStep(steps)
  return (
    <div className="steps">
      <StepList
        steps={steps}
        chosen={step === undefined ? '' : stepText(step)}
        onChoose={(next) => setValues({ step: next })}
      />
      {step === undefined ? undefined : <StepOutput edge={edge} step={step} ask={ask} />}
    </div>
  )
}

interface StepOutputProps extends StepsProps {
  readonly step: EdgeStep
}

function StepOutput({ edge, step, ask }: StepOutputProps) {
  const texts = useTexts(both)
  const { state, attempt = 0 } = step
  const isStuck = state === 'Failed' || (state === 'Waiting' && attempt > 0)
  const mayRepeat = isStuck || state === 'Cancelled' || state === 'Skipped'
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
      {mayRepeat ? (
        <Allowed action={changeOf(edge)}>
          <p className="empty-actions">
            <button type="button" className="button" onClick={() => ask({ ask: 'retry', step })}>
              {texts.retry}
            </button>
            {!isStuck || !maySkip(step) ? undefined : (
              <button type="button" className="button" onClick={() => ask({ ask: 'skip', step })}>
                {texts.skip}
              </button>
            )}
          </p>
        </Allowed>
      ) : undefined}
      {step.output === undefined || step.output === '' ? (
        <p className="muted">{texts.noOutput}</p>
      ) : (
        <pre tabIndex={0}>{step.output}</pre>
      )}
    </section>
  )
}
