import { useDeferredValue, useMemo } from 'react'
import { Link, useLocation } from 'wouter'
import { useWatched } from '../../data/streams/console-context.tsx'
import { standings } from '../../data/fleet/explanation.ts'
import { tableRows } from '../../data/objects/table-rows.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { commandLine } from '../../data/objects/object-commands.ts'
import { Age } from '../../parts/age.tsx'
import { Empty } from '../../parts/answer-state.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { StandingMark } from '../../parts/standing-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import {
  applicationRows,
  byStanding,
  type ApplicationRow,
  type Binding,
} from './application-rows.ts'
import { ExplanationFault } from './explanation-fault.tsx'
import { texts as both, type ApplicationTexts } from './texts.ts'
import { useExplanation } from './use-explanation.ts'
import { sentSince, workPath, workSelector } from './work-selector.ts'

/** Every cluster, with the reason why the object is there, waits, or is not there. */
export function ClustersTab({ binding }: { readonly binding: Binding }) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const [, navigate] = useLocation()
  const [values, setValues] = useUrlValues()
  const answer = useExplanation(binding.spec.resource)
  const rows = useMemo(
    () => applicationRows(binding, answer.data).toSorted(byStanding),
    [binding, answer.data],
  )
  const isAll = values.show === 'all'
  const text = useDeferredValue(values.q ?? '').toLowerCase()
  const shown = useMemo(
    () =>
      rows.filter(
        (row) =>
          (isAll || row.standing !== 'NotPlaced') &&
          `${row.cluster} ${row.message}`.toLowerCase().includes(text),
      ),
    [rows, isAll, text],
  )
  const since = useSince(binding)
  const columns = useMemo(() => columnsOf(texts, since), [texts, since])
  const { apiVersion: _, kind, namespace, name } = binding.spec.resource
  const line = commandLine(
    'skerry',
    'explain',
    `${kind.toLowerCase()}/${name}`,
    ...(namespace === undefined ? [] : ['-n', namespace]),
  )
  return (
    <>
      <div className="bar">
        <label className="check">
          <input
            type="checkbox"
            checked={isAll}
            onChange={(event) => setValues({ show: event.target.checked ? 'all' : '' })}
          />
          {texts.showAll}
        </label>
        <span className="page-space" />
        <span className="muted">{words.rows(shown.length, rows.length)}</span>
        <SearchField
          value={values.q ?? ''}
          label={texts.filter}
          onChange={(q) => setValues({ q })}
        />
        <CopyButton label={texts.asLine} text={line} />
      </div>
      <ExplanationFault answer={answer} />
      {shown.length === 0 ? (
        <Empty title={rows.length === 0 ? texts.nowhere : words.noMatch} />
      ) : (
        <DataTable
          label={texts.tabs.clusters}
          rows={shown}
          columns={columns}
          keyOf={({ cluster }) => cluster}
          isOld={({ standing }) => standing === 'Away'}
          onOpen={({ cluster }) => navigate(`/clusters/${encodeURIComponent(cluster)}`)}
        />
      )}
    </>
  )
}

/** Since when each cluster has been sent the object. A Table is small even if the objects are large. */
function useSince(binding: Binding): ReadonlyMap<string, number> {
  const selector = workSelector(binding)
  const path = selector === undefined ? undefined : workPath(undefined, selector)
  const view = useWatched(path, true)
  return useMemo(() => sentSince(tableRows(view)), [view])
}

function columnsOf(
  texts: ApplicationTexts,
  since: ReadonlyMap<string, number>,
): Column<ApplicationRow>[] {
  return [
    {
      key: 'cluster',
      title: texts.cluster,
      width: 'minmax(120px, 1.2fr)',
      sortBy: ({ cluster }) => cluster,
      cell: ({ cluster }) => (
        <Link href={`/clusters/${encodeURIComponent(cluster)}`}>{cluster}</Link>
      ),
    },
    {
      key: 'standing',
      title: texts.standing,
      width: '120px',
      sortBy: ({ standing }) => standings.indexOf(standing),
      cell: ({ standing }) => <StandingMark standing={standing} />,
    },
    {
      key: 'replicas',
      title: texts.ready,
      width: '72px',
      isNumber: true,
      sortBy: ({ ready = -1, desired = 0 }) => (desired === 0 ? -1 : ready / desired),
      cell: ({ ready, desired }) => (desired === undefined ? '–' : `${ready ?? '?'} / ${desired}`),
    },
    {
      key: 'overrides',
      title: texts.overrides,
      width: 'minmax(80px, 1fr)',
      isWide: true,
      sortBy: ({ overrides }) => overrides.length,
      cell: ({ overrides }) => overrides.map(({ policy, rule }) => `${policy}#${rule}`).join(', '),
    },
    {
      key: 'since',
      title: texts.since,
      width: '84px',
      isWide: true,
      sortBy: ({ cluster }) => -(since.get(cluster) ?? 0),
      cell: ({ cluster }) =>
        since.has(cluster) ? <Age atMs={since.get(cluster)} isBare /> : undefined,
    },
    {
      key: 'why',
      title: texts.why,
      width: 'minmax(200px, 4fr)',
      cell: ({ message }) => <span title={message}>{message}</span>,
    },
  ]
}
