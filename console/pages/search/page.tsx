/** Objects by name or label, in all clusters at once. */
import { useEffect, useMemo, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { readLines } from '../../data/pods/answer-lines.ts'
import { browserClock } from '../../data/browser/browser-clock.ts'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import { askHub } from '../../data/hub/hub-request.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { requestLimits, timeLimits, viewLimits } from '../../limits-table.ts'
import { Age } from '../../parts/age.tsx'
import { Empty, Failed } from '../../parts/answer-state.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { LabelChips } from '../../parts/label-chips.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { useTexts } from '../../words/language.ts'
import {
  foundPage,
  nothingFound,
  readKinds,
  searchKinds,
  searchPath,
  usualKinds,
  withLine,
  type FoundObject,
  type SearchFound,
} from './search-lines.ts'
import { texts as both, type SearchTexts } from './texts.ts'

export function SearchPage() {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const kinds = readKinds(values.kinds)
  const text = values.q ?? ''
  const { found, error, isBusy } = useFound(text, kinds)
  const choose = (kind: string, isChosen: boolean): void => {
    const next = searchKinds.filter((each) => (each === kind ? isChosen : kinds.includes(each)))
    const isUsual = next.length === 0 || next.join() === usualKinds.join()
    setValues({ kinds: isUsual ? '' : next.join(',') })
  }
  return (
    <PageFrame title={texts.title} mark={<Progress found={found} isBusy={isBusy} />}>
      <div className="bar">
        <SearchField value={text} label={texts.field} onChange={(q) => setValues({ q })} />
        {searchKinds.map((kind) => (
          <label key={kind} className="check">
            <input
              type="checkbox"
              checked={kinds.includes(kind)}
              onChange={(event) => choose(kind, event.target.checked)}
            />
            {kind.slice(kind.lastIndexOf('/') + 1)}
          </label>
        ))}
      </div>
      {error === undefined ? undefined : <Failed error={error} />}
      <Silent found={found} />
      <Found
        found={found}
        isBusy={isBusy}
        isShort={text.trim().length < viewLimits.searchCharsMin}
      />
    </PageFrame>
  )
}

interface FoundProps {
  readonly found: SearchFound
  readonly isBusy: boolean
}

function Progress({ found, isBusy }: FoundProps) {
  const texts = useTexts(both)
  if (isBusy) return <span className="muted">{texts.searching(found.items.length)}</span>
  const { end } = found
  if (end === undefined) return undefined
  return (
    <span className="muted">
      {end.isCut ? texts.cut(found.items.length) : texts.asked(end.asked - found.failures.length)}
    </span>
  )
}

/** Names the clusters that did not answer: what they have is not in the list. */
function Silent({ found }: { readonly found: SearchFound }) {
  const texts = useTexts(both)
  if (found.failures.length === 0) return undefined
  return (
    <details className="banner tone-away">
      <summary>◌ {texts.silent(found.failures.length)}</summary>
      <ul className="plain">
        {found.failures.map(([cluster, why]) => (
          <li key={cluster}>
            <Link href={`/clusters/${encodeURIComponent(cluster)}`}>{cluster}</Link>{' '}
            <span className="muted">{why}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}

function Found({ found, isBusy, isShort }: FoundProps & { readonly isShort: boolean }) {
  const texts = useTexts(both)
  const [, navigate] = useLocation()
  const columns = useMemo(() => columnsOf(texts), [texts])
  if (isShort) return <Empty title={texts.short}>{texts.hint}</Empty>
  if (found.items.length === 0) {
    return isBusy || found.end === undefined ? undefined : (
      <Empty title={texts.none}>{texts.noneHint}</Empty>
    )
  }
  return (
    <DataTable
      label={texts.title}
      rows={found.items}
      columns={columns}
      keyOf={(item) => [item.cluster, item.kind, item.namespace, item.name].join('/')}
      initialSort="name"
      onOpen={(item) => navigate(foundPage(item))}
    />
  )
}

function columnsOf(texts: SearchTexts): Column<FoundObject>[] {
  const text = (key: 'cluster' | 'namespace', width: string): Column<FoundObject> => ({
    key,
    title: texts[key],
    width,
    sortBy: (item) => item[key] ?? '',
    cell: (item) => item[key],
  })
  return [
    {
      key: 'name',
      title: texts.name,
      width: 'minmax(150px, 2fr)',
      sortBy: ({ name }) => name,
      cell: (item) => <Link href={foundPage(item)}>{item.name}</Link>,
    },
    {
      key: 'kind',
      title: texts.kind,
      width: '120px',
      sortBy: ({ kind }) => kind,
      cell: ({ kind }) => kind.slice(kind.lastIndexOf('/') + 1),
    },
    text('cluster', 'minmax(100px, 1fr)'),
    text('namespace', 'minmax(90px, 1fr)'),
    {
      key: 'labels',
      title: texts.labels,
      width: 'minmax(120px, 3fr)',
      isWide: true,
      cell: ({ labels }) => <LabelChips labels={labels} />,
    },
    {
      key: 'age',
      title: texts.age,
      width: '84px',
      sortBy: ({ creationTimestamp = '' }) => -Date.parse(creationTimestamp),
      cell: ({ creationTimestamp = '' }) => <Age atMs={Date.parse(creationTimestamp)} isBare />,
    },
  ]
}

interface SearchState extends FoundProps {
  readonly error?: HubError
}

/** Searches when nobody has typed for a moment; a further letter ends the search before. */
function useFound(text: string, kinds: readonly string[]): SearchState {
  const [state, setState] = useState<SearchState>({ found: nothingFound, isBusy: false })
  const path = searchPath(text, kinds, viewLimits.foundMax)
  const isShort = text.trim().length < viewLimits.searchCharsMin
  useEffect(() => {
    if (isShort) return setState({ found: nothingFound, isBusy: false })
    const stop = new AbortController()
    const { signal } = stop
    const search = async (): Promise<void> => {
      let found = nothingFound
      try {
        const answer = await askHub(path, { signal, isStream: true })
        await readLines(answer, {
          onLine: (line) => (found = withLine(found, line)),
          onChange: () => signal.aborted || setState({ found, isBusy: true }),
          charsMax: requestLimits.answerCharsMax,
        })
        if (!signal.aborted) setState({ found, isBusy: false })
      } catch (thrown) {
        if (!signal.aborted) setState({ found, isBusy: false, error: asHubError(thrown) })
      }
    }
    setState({ found: nothingFound, isBusy: true })
    const timer = browserClock.after(timeLimits.pauseMs, () => void search())
    return () => {
      timer.cancel()
      stop.abort()
    }
  }, [path, isShort])
  return state
}
