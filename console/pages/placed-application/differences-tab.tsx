import { useMemo } from 'react'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import {
  differenceRows,
  valueText,
  type DifferenceRow,
} from '../../data/places/placed-application.ts'
import { commandLine } from '../../data/objects/object-commands.ts'
import { Empty, Loading } from '../../parts/answer-state.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { AnswerFault } from './answer-fault.tsx'
import { texts as both, type PlacedTexts } from './texts.ts'
import { usePlacedExplanation, type Placed, type PlacedAnswer } from './use-placed-explanation.ts'

/** The fields in which children differ from what all places have in common, and the reason of each. */
export function DifferencesTab(placed: Placed) {
  const texts = useTexts(both)
  const [values] = useUrlValues()
  const answer = usePlacedExplanation(placed)
  const all = useMemo(
    () => (answer.data === undefined ? undefined : differenceRows(answer.data)),
    [answer.data],
  )
  const isAll = values.show === 'all'
  const place = values.place ?? ''
  const rows = useMemo(
    () =>
      (all ?? []).filter(
        ({ by, child }) => (isAll || by !== 'Group') && (place === '' || child.group === place),
      ),
    [all, isAll, place],
  )
  const columns = useMemo(() => columnsOf(texts), [texts])
  return (
    <>
      <Bar placed={placed} answer={answer} count={rows.length} total={all?.length ?? 0} />
      <AnswerFault answer={answer} />
      {rows.length > 0 ? (
        <DataTable
          label={texts.tabs.differences}
          rows={rows}
          columns={columns}
          keyOf={({ key }) => key}
        />
      ) : all === undefined && answer.error === undefined ? (
        <Loading />
      ) : all === undefined ? undefined : (
        <Empty title={texts.noDifferences}>
          <p className="empty-text">{texts.noDifferencesHint}</p>
        </Empty>
      )}
    </>
  )
}

interface BarProps {
  readonly placed: Placed
  readonly answer: PlacedAnswer
  readonly count: number
  readonly total: number
}

function Bar({ placed, answer, count, total }: BarProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const [values, setValues] = useUrlValues()
  const place = values.place ?? ''
  const groups = [...new Set((answer.data?.children ?? []).map(({ group }) => group))]
  const shown = answer.data?.children.find(({ group }) => place === '' || group === place)
  return (
    <div className="bar">
      <ChoiceField
        label={texts.place}
        value={place}
        choices={['', ...groups.filter(Boolean)].map((group) => [group, group || '*'] as const)}
        onChange={(next) => setValues({ place: next })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={values.show === 'all'}
          onChange={(event) => setValues({ show: event.target.checked ? 'all' : '' })}
        />
        {texts.onlyPlaced}
      </label>
      <span className="page-space" />
      <span className="muted">{words.rows(count, total)}</span>
      {shown === undefined ? undefined : (
        <CopyButton
          label={words.asCommand}
          text={commandLine(
            'skerry',
            'explain',
            `${shown.kind.toLowerCase()}/${shown.name}`,
            '-n',
            placed.app.metadata.namespace ?? '',
            '--kubeconfig',
            `${placed.cluster}.kubeconfig`,
          )}
        />
      )}
    </div>
  )
}

function columnsOf(texts: PlacedTexts): Column<DifferenceRow>[] {
  return [
    {
      key: 'place',
      title: texts.place,
      width: 'minmax(80px, 1fr)',
      sortBy: ({ child }) => child.group,
      hint: ({ child }) => `${child.kind} ${child.name}`,
      cell: ({ child }) => child.group || child.name,
    },
    {
      key: 'field',
      title: texts.field,
      width: 'minmax(140px, 3fr)',
      sortBy: ({ path }) => path,
      hint: ({ path }) => path,
      cell: ({ path }) => <code>{path}</code>,
    },
    {
      key: 'common',
      title: texts.common,
      width: 'minmax(80px, 2fr)',
      isWide: true,
      hint: ({ from }) => valueText(from),
      cell: ({ from }) => valueText(from),
    },
    {
      key: 'here',
      title: texts.here,
      width: 'minmax(80px, 2fr)',
      hint: ({ to }) => valueText(to),
      cell: ({ to }) => valueText(to),
    },
    {
      key: 'because',
      title: texts.because,
      width: 'minmax(120px, 1.5fr)',
      sortBy: ({ by }) => by,
      hint: ({ why }) => why,
      cell: ({ by }) =>
        by === 'Edit' ? <WordMark tone="warn">{texts.by[by]}</WordMark> : texts.by[by],
    },
  ]
}
