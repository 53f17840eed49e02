/** Events of a cluster or of the hub: a row for each reason, or for each event. */
import { useDeferredValue, useMemo } from 'react'
import { listPath } from '../data/hub/api-paths.ts'
import { listCommand } from '../data/objects/object-commands.ts'
import { useRetry, useWatched } from '../data/streams/console-context.tsx'
import {
  byTime,
  countOf,
  eventGroups,
  isWarning,
  lastSeenMs,
  matchesEvent,
  subjectOf,
  type EventGroup,
  type EventObject,
} from '../data/fleet/event-groups.ts'
import { useUrlValues } from '../data/browser/use-url-values.ts'
import type { ListView } from '../data/streams/watched-list.ts'
import { inBoth, useTexts } from '../words/language.ts'
import { Age } from './age.tsx'
import { Empty, Failed, Loading } from './answer-state.tsx'
import { CopyButton } from './copy-button.tsx'
import { DataTable, type Column } from './data-table.tsx'
import { Freshness } from './freshness.tsx'
import { SearchField } from './search-field.tsx'
import { WordMark } from './state-mark.tsx'
import { partTexts } from './texts.ts'

const both = inBoth({
  en: {
    events: 'Events',
    filter: 'Filter by reason, object or message',
    grouped: 'Together by reason',
    warnings: 'Warnings only',
    none: 'There are no events',
    noneHint: 'Kubernetes keeps events for an hour.',
    reason: 'Reason',
    kind: 'Kind',
    object: 'Object',
    objects: 'Objects',
    count: 'Times',
    last: 'Last',
    message: 'Message',
    others: (count: number) => ` and ${count} more`,
  },
  zh: {
    events: '事件',
    filter: '按原因、对象或消息筛选',
    grouped: '按原因合并',
    warnings: '仅警告',
    none: '没有事件',
    noneHint: 'Kubernetes 保留事件一小时。',
    reason: '原因',
    kind: '类型',
    object: '对象',
    objects: '对象',
    count: '次数',
    last: '最近',
    message: '消息',
    others: (count: number) => ` 等另外 ${count} 个`,
  },
})

const eventKind = { group: '', version: 'v1', resource: 'events' }

type EventTexts = (typeof both)['en']

interface EventListProps {
  /** Undefined for the hub's own events. */
  readonly cluster: string | undefined
  /** Stands at the start of the bar. */
  readonly choices?: React.ReactNode
}

export function EventList({ cluster, choices }: EventListProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const [values, setValues] = useUrlValues()
  const path = listPath(cluster, eventKind)
  const view = useWatched(path)
  const retry = useRetry(path)
  const text = useDeferredValue(values.q ?? '')
  const isGrouped = values.group !== 'none'
  const isBad = values.type === 'warning'
  const shown = useMemo(() => {
    // Events of the API.
    const events = [...view.items.values()] as EventObject[]
    return events.filter((event) => (!isBad || isWarning(event)) && matchesEvent(event, text))
  }, [view, text, isBad])
  return (
    <>
      <div className="bar">
        {choices}
        <Check
          label={texts.grouped}
          isOn={isGrouped}
          onChange={(isOn) => setValues({ group: isOn ? '' : 'none' })}
        />
        <Check
          label={texts.warnings}
          isOn={isBad}
          onChange={(isOn) => setValues({ type: isOn ? 'warning' : '' })}
        />
        <span className="page-space" />
        <Freshness view={view} />
        {view.phase !== 'live' && view.items.size === 0 ? undefined : (
          <span className="muted">{words.rows(shown.length, view.items.size)}</span>
        )}
        <SearchField
          value={values.q ?? ''}
          label={texts.filter}
          onChange={(q) => setValues({ q })}
        />
        <CopyButton label={words.asKubectl} text={listCommand(cluster, eventKind, '')} />
      </div>
      {shown.length === 0 || view.error !== undefined ? (
        <NoEvents view={view} retry={retry} />
      ) : isGrouped ? (
        <Groups
          events={shown}
          isOld={view.phase !== 'live'}
          onOpen={(reason) => setValues({ q: reason, group: 'none' })}
        />
      ) : (
        <Single events={shown} isOld={view.phase !== 'live'} />
      )}
    </>
  )
}

interface CheckProps {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

function Check({ label, isOn, onChange }: CheckProps) {
  return (
    <label className="check">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  )
}

interface NoEventsProps {
  readonly view: ListView
  readonly retry: () => void
}

function NoEvents({ view, retry }: NoEventsProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  if (view.error !== undefined) return <Failed error={view.error} onRetry={retry} />
  if (view.phase === 'loading') return <Loading />
  if (view.items.size > 0) return <Empty title={words.noMatch} />
  if (view.phase === 'away') return <Empty title={words.awayTitle}>{view.message}</Empty>
  return (
    <Empty title={texts.none}>
      <p>{texts.noneHint}</p>
    </Empty>
  )
}

interface RowsProps {
  readonly events: readonly EventObject[]
  readonly isOld: boolean
}

function Groups({ events, isOld, onOpen }: RowsProps & { onOpen: (reason: string) => void }) {
  const texts = useTexts(both)
  const rows = useMemo(() => eventGroups(events), [events])
  const columns = useMemo(() => groupColumns(texts, onOpen), [texts, onOpen])
  return (
    <DataTable
      label={texts.events}
      rows={rows}
      columns={columns}
      keyOf={(row) => [row.isWarning, row.reason, row.kind].join(' ')}
      isOld={() => isOld}
      onOpen={({ reason }) => onOpen(reason)}
    />
  )
}

function Single({ events, isOld }: RowsProps) {
  const texts = useTexts(both)
  const rows = useMemo(() => events.toSorted(byTime), [events])
  const columns = useMemo(() => eventColumns(texts), [texts])
  return (
    <DataTable
      label={texts.events}
      rows={rows}
      columns={columns}
      keyOf={({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`}
      isOld={() => isOld}
    />
  )
}

function groupColumns(texts: EventTexts, onOpen: (reason: string) => void): Column<EventGroup>[] {
  return [
    {
      key: 'reason',
      title: texts.reason,
      width: 'minmax(140px, 1.3fr)',
      sortBy: ({ reason }) => reason,
      cell: ({ reason, isWarning: isBad }) => (
        <button type="button" className="link-button" onClick={() => onOpen(reason)}>
          <WordMark tone={isBad ? 'warn' : 'ok'}>{reason}</WordMark>
        </button>
      ),
    },
    {
      key: 'kind',
      title: texts.kind,
      width: 'minmax(80px, 1fr)',
      isWide: true,
      sortBy: ({ kind }) => kind,
      cell: ({ kind }) => kind,
    },
    {
      key: 'objects',
      title: texts.objects,
      width: 'minmax(140px, 2fr)',
      sortBy: ({ objects }) => objects.length,
      cell: ({ objects: [first = '', ...others] }) => (
        <span title={[first, ...others.slice(0, 20)].join('\n')}>
          {first}
          {others.length === 0 ? '' : texts.others(others.length)}
        </span>
      ),
    },
    {
      key: 'count',
      title: texts.count,
      width: '64px',
      isNumber: true,
      sortBy: ({ count }) => -count,
      cell: ({ count }) => count,
    },
    {
      key: 'last',
      title: texts.last,
      width: '84px',
      sortBy: ({ lastMs }) => -lastMs,
      cell: ({ lastMs }) => <Age atMs={lastMs} isBare />,
    },
    {
      key: 'message',
      title: texts.message,
      width: 'minmax(200px, 4fr)',
      isWide: true,
      cell: ({ message }) => <span title={message}>{message}</span>,
    },
  ]
}

function eventColumns(texts: EventTexts): Column<EventObject>[] {
  return [
    {
      key: 'last',
      title: texts.last,
      width: '84px',
      sortBy: (event) => -lastSeenMs(event),
      cell: (event) => <Age atMs={lastSeenMs(event)} isBare />,
    },
    {
      key: 'reason',
      title: texts.reason,
      width: 'minmax(130px, 1fr)',
      sortBy: ({ reason = '' }) => reason,
      cell: (event) => (
        <WordMark tone={isWarning(event) ? 'warn' : 'ok'}>{event.reason ?? ''}</WordMark>
      ),
    },
    {
      key: 'object',
      title: texts.object,
      width: 'minmax(150px, 2fr)',
      sortBy: subjectOf,
      cell: (event) => `${event.involvedObject?.kind ?? ''} ${subjectOf(event)}`,
    },
    {
      key: 'count',
      title: texts.count,
      width: '64px',
      isNumber: true,
      sortBy: (event) => -countOf(event),
      cell: (event) => countOf(event),
    },
    {
      key: 'message',
      title: texts.message,
      width: 'minmax(200px, 4fr)',
      isWide: true,
      cell: ({ message = '' }) => <span title={message}>{message}</span>,
    },
  ]
}
