import { useMemo } from 'react'
import { changeOf, type EdgeClusterObject } from '../../data/edge/edge-cluster.ts'
import { machineResults, type MachineResult } from '../../data/edge/machine-results.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { machineTexts, machineTones } from '../../parts/machine-texts.ts'
import { WordMark } from '../../parts/state-mark.tsx'
import { rowHeights } from '../../words/density.ts'
import { useTexts } from '../../words/language.ts'
import { LeaveButtons } from './leave-buttons.tsx'
import { texts as both } from './texts.ts'

/** One result for each machine, those that need a person first. */
export function MachineTable({ edge }: { readonly edge: EdgeClusterObject }) {
  const texts = useTexts(both)
  const words = useTexts(machineTexts)
  const rows = useMemo(() => machineResults(edge), [edge])
  const columns = useMemo(() => columnsOf(edge, texts, words), [edge, texts, words])
  if (rows.length === 0) return undefined
  return (
    <div className="short-table" style={{ height: rowHeights.normal * (rows.length + 2) }}>
      <DataTable
        label={texts.machines}
        rows={rows}
        columns={columns}
        keyOf={({ address }) => address}
      />
    </div>
  )
}

type Texts = (typeof both)['en']
type Words = (typeof machineTexts)['en']

function columnsOf(
  edge: EdgeClusterObject,
  texts: Texts,
  words: Words,
): readonly Column<MachineResult>[] {
  return [
    {
      key: 'state',
      title: texts.state,
      width: '150px',
      cell: ({ state }) => <WordMark tone={machineTones[state]}>{words.states[state]}</WordMark>,
    },
    {
      key: 'address',
      title: texts.machine,
      width: 'minmax(110px, 1fr)',
      sortBy: ({ address }) => address,
      cell: ({ address, isLeaving }) => (
        <>
          <span className="mono">{address}</span>
          {isLeaving ? <span className="muted"> {texts.leaving}</span> : undefined}
        </>
      ),
    },
    {
      key: 'role',
      title: texts.role,
      width: '80px',
      isWide: true,
      sortBy: ({ role }) => role,
      cell: ({ role }) => words.roles[role],
    },
    {
      key: 'node',
      title: texts.node,
      width: 'minmax(80px, 1fr)',
      isWide: true,
      sortBy: ({ node }) => node,
      cell: ({ node }) => node || '–',
    },
    {
      key: 'step',
      title: texts.step,
      width: 'minmax(90px, 1fr)',
      isWide: true,
      cell: ({ step }) => step?.name,
    },
    {
      key: 'message',
      title: texts.message,
      width: 'minmax(120px, 2fr)',
      isWide: true,
      cell: ({ message }) => <span title={message}>{message}</span>,
    },
    {
      key: 'leave',
      title: '',
      width: '190px',
      cell: (machine) => (
        <Allowed action={changeOf(edge)}>
          <LeaveButtons edge={edge} machine={machine} />
        </Allowed>
      ),
    },
  ]
}
