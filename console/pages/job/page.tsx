/** One job: how far it is on each machine, and what a person may ask of it. */
import { Link } from 'wouter'
import { usePathWords } from '../../data/browser/use-path-words.ts'
import { listPath, objectPath } from '../../data/hub/api-paths.ts'
import { useRetry, useWatched } from '../../data/streams/console-context.tsx'
import {
  changeOf,
  edgeJobClusters,
  edgeJobs,
  isOver,
  jobCommand,
  jobLabel,
  jobPatch,
  jobRows,
  type EdgeJobClusterObject,
  type EdgeJobObject,
  type JobPhase,
  type JobWish,
} from '../../data/edge/edge-job.ts'
import { isPaused } from '../../data/edge/pause.ts'
import { askHub } from '../../data/hub/hub-request.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { Age } from '../../parts/age.tsx'
import { Allowed } from '../../parts/allowed.tsx'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { WordMark, type Tone } from '../../parts/state-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { MachineTable } from './machine-table.tsx'
import { texts as both, type JobTexts } from './texts.ts'

const tones: Readonly<Record<JobPhase, Tone>> = {
  Pending: 'off',
  Running: 'busy',
  Waiting: 'warn',
  Paused: 'off',
  Completed: 'ok',
  Failed: 'bad',
  Cancelled: 'off',
}

export function JobPage() {
  const texts = useTexts(both)
  const { namespace = '', name = '' } = usePathWords()
  const path = objectPath(undefined, { ...edgeJobs, namespace, name })
  const field = encodeURIComponent(`metadata.name=${name}`)
  const list = `${listPath(undefined, edgeJobs, namespace)}?fieldSelector=${field}`
  const view = useWatched(list)
  const retry = useRetry(list)
  const label = encodeURIComponent(`${jobLabel}=${name}`)
  const clusters = useWatched(
    `${listPath(undefined, edgeJobClusters, namespace)}?labelSelector=${label}`,
  )
  const action = useAction()
  // The hub's own kinds.
  const job = view.items.get(`${namespace}/${name}`) as EdgeJobObject | undefined
  const rows = jobRows([...clusters.items.values()] as EdgeJobClusterObject[])
  const above = <Link href="/jobs">{texts.above}</Link>
  if (view.error !== undefined) {
    return <FailedPage title={name} above={above} error={view.error} onRetry={retry} />
  }
  if (job === undefined) {
    return (
      <PageFrame title={name} above={above}>
        {view.phase === 'loading' ? <Loading /> : <Empty title={texts.missing} />}
      </PageFrame>
    )
  }
  const send = async (wish: JobWish): Promise<void> => {
    const contentType = 'application/merge-patch+json'
    await askHub(path, { method: 'PATCH', body: jobPatch(job, wish), contentType })
  }
  const ask = (wish: JobWish): void => void action.run(() => send(wish))
  const phase = job.status?.phase ?? 'Pending'
  return (
    <PageFrame
      title={name}
      above={above}
      view={view}
      mark={<WordMark tone={tones[phase]}>{texts.phases[phase]}</WordMark>}
      actions={
        <Allowed action={changeOf(job)} isExplained>
          <Actions job={job} ask={ask} send={send} />
        </Allowed>
      }
    >
      <FaultLine fault={action.fault} />
      <section className="panel">
        <h2>{workText(job, texts)}</h2>
        {job.status?.message === undefined ? undefined : <p>{job.status.message}</p>}
        <JobFacts job={job} />
      </section>
      {clusters.error === undefined ? undefined : <Failed error={clusters.error} />}
      {rows.length === 0 ? (
        <p className="muted">{texts.noMachines}</p>
      ) : (
        <MachineTable job={job} rows={rows} ask={ask} />
      )}
    </PageFrame>
  )
}

function workText({ spec: { upgrade, configure, pullImages } }: EdgeJobObject, texts: JobTexts) {
  if (upgrade !== undefined) {
    return texts.upgrade(upgrade.version ?? upgrade.package?.digest.slice(0, 19) ?? '')
  }
  if (configure !== undefined) return texts.configure(Object.keys(configure).join(', '))
  return texts.pull(pullImages?.images.join(', ') ?? '')
}

function JobFacts({ job: { status = {} } }: { readonly job: EdgeJobObject }) {
  const texts = useTexts(both)
  const { totals, startTime, finishTime } = status
  const time = (at: string | undefined) => (
    <Age atMs={at === undefined ? undefined : Date.parse(at)} />
  )
  return (
    <Facts
      facts={[
        { name: texts.began, value: time(startTime) },
        ...(finishTime === undefined ? [] : [{ name: texts.ended, value: time(finishTime) }]),
        ...(totals === undefined
          ? []
          : [
              {
                name: texts.machines,
                value: texts.totals(totals.done, totals.machines, totals.clusters),
              },
              {
                name: texts.trouble,
                value: texts.troubles(totals.failed, totals.rolledBack, totals.waiting),
              },
            ]),
      ]}
    />
  )
}

interface ActionsProps {
  readonly job: EdgeJobObject
  readonly ask: (wish: JobWish) => void
  readonly send: (wish: JobWish) => Promise<void>
}

function Actions({ job, ask, send }: ActionsProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const cancelAction = useAction()
  const { status } = job
  const hold: JobWish = { ask: isPaused(job) ? 'resume' : 'pause' }
  const all = { target: '*' } as const
  return (
    <>
      {(status?.totals?.waiting ?? 0) > 0 ? (
        <button
          type="button"
          className="button is-main"
          onClick={() => ask({ ask: 'confirm', ...all })}
        >
          {texts.confirmAll(status?.totals?.waiting ?? 0)}
        </button>
      ) : undefined}
      {isOver(job) && status?.phase !== 'Completed' ? (
        <button
          type="button"
          className="button is-main"
          onClick={() => ask({ ask: 'retry', ...all })}
        >
          {texts.retryAll}
        </button>
      ) : undefined}
      {isOver(job) ? undefined : (
        <>
          <button type="button" className="button" onClick={() => ask(hold)}>
            {isPaused(job) ? texts.resume : texts.pause}
          </button>
          <ConfirmButton
            label={texts.cancel}
            action={cancelAction}
            act={() => send({ ask: 'cancel' })}
          >
            <p>{texts.cancelText}</p>
            <p>
              <CopyButton label={words.asCommand} text={jobCommand(job, { ask: 'cancel' })} />
            </p>
          </ConfirmButton>
        </>
      )}
    </>
  )
}
