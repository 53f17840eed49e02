import { useMemo } from 'react'
import { Link } from 'wouter'
import {
  changeOf,
  jobCommand,
  targetOf,
  type EdgeJobObject,
  type JobRow,
  type JobWish,
  type MachinePhase,
} from '../../data/edge/edge-job.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { WordMark, type Tone } from '../../parts/state-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const tones: Readonly<Record<MachinePhase, Tone>> = {
  Failed: 'bad',
  RolledBack: 'warn',
  WaitingForConfirmation: 'warn',
  Running: 'busy',
  Checking: 'busy',
  Pending: 'off',
  Cancelled: 'off',
  Done: 'ok',
}

interface MachineTableProps {
  readonly job: EdgeJobObject
  readonly rows: readonly JobRow[]
  readonly ask: (wish: JobWish) => void
}

export function MachineTable({ job, rows, ask }: MachineTableProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const { namespace } = job.metadata
  const columns = useMemo(
    (): readonly Column<JobRow>[] => [
      {
        key: 'phase',
        title: texts.state,
        width: '160px',
        cell: ({ phase }) => <WordMark tone={tones[phase]}>{texts.machinePhases[phase]}</WordMark>,
      },
      {
        key: 'cluster',
        title: texts.cluster,
        width: 'minmax(110px, 1fr)',
        sortBy: ({ cluster }) => cluster,
        cell: ({ cluster }) => (
          <Link
            href={`/edge-clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(cluster)}`}
          >
            {cluster}
          </Link>
        ),
      },
      {
        key: 'address',
        title: texts.machine,
        width: 'minmax(110px, 1fr)',
        sortBy: ({ address }) => address,
        cell: ({ address, role }) => (
          <>
            <span className="mono">{address}</span> <span className="muted">{role}</span>
          </>
        ),
      },
      {
        key: 'message',
        title: texts.message,
        width: 'minmax(140px, 3fr)',
        cell: ({ message }) => <span title={message}>{message}</span>,
      },
      {
        key: 'wish',
        title: '',
        width: '230px',
        cell: (row) => {
          const wish = wishOf(row)
          return wish === undefined ? undefined : (
            <Allowed action={changeOf(job)}>
              <button type="button" className="button" onClick={() => ask(wish)}>
                {wish.ask === 'confirm' ? texts.confirm : texts.retry}
              </button>
              <CopyButton label={words.asCommand} text={jobCommand(job, wish)} />
            </Allowed>
          )
        },
      },
    ],
    [texts, words, namespace, job, ask],
  )
  return (
    <DataTable
      label={texts.machines}
      rows={rows}
      columns={columns}
      keyOf={({ cluster, address }) => `${cluster}/${address}`}
    />
  )
}

function wishOf(row: JobRow): (JobWish & { readonly target: string }) | undefined {
  const target = targetOf(row)
  if (row.phase === 'WaitingForConfirmation') return { ask: 'confirm', target }
  const isStuck = ['Failed', 'RolledBack', 'Cancelled'].includes(row.phase)
  return isStuck ? { ask: 'retry', target } : undefined
}
