/** The audit log of the hub: all requests, with their users. */
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { kubectlOf } from '../../data/objects/object-commands.ts'
import { saveFile } from '../../data/browser/save-file.ts'
import { browserClock } from '../../data/browser/browser-clock.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { timeLimits, viewLimits } from '../../limits-table.ts'
import { Age } from '../../parts/age.tsx'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { CheckField } from '../../parts/check-field.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import {
  auditFields,
  auditPath,
  fieldOfTime,
  keyOf,
  readFilter,
  shownUri,
  timeOfField,
  withOlder,
  type AuditAnswer,
  type AuditEvent,
  type AuditFilter,
} from './audit-search.ts'
import { texts as both, type AuditTexts } from './texts.ts'

export function AuditPage() {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const filter = readFilter(values)
  const search = useSearch(filter)
  const { events = [], replica } = search
  return (
    <PageFrame
      title={texts.title}
      mark={
        replica === undefined || replica === '' ? undefined : (
          <span className="muted">{texts.replica(replica)}</span>
        )
      }
      actions={
        <button type="button" className="button" onClick={search.again}>
          <Icon name="refresh" />
          {texts.again}
        </button>
      }
    >
      <div className="bar">
        {auditFields.map((name) => (
          <FilterField
            key={name}
            name={name}
            value={filter[name]}
            onChange={(value) => setValues({ [name]: value })}
          />
        ))}
        <CheckField
          label={texts.reviews}
          isChecked={filter.reviews !== ''}
          onChange={(isShown) => setValues({ reviews: isShown ? 'shown' : '' })}
        />
        <span className="page-space" />
        <button
          type="button"
          className="button"
          disabled={events.length === 0}
          onClick={() =>
            saveFile('audit.json', 'application/json', JSON.stringify(events, null, 2))
          }
        >
          <Icon name="download" />
          {texts.save}
        </button>
        <CopyButton
          label={texts.asLine}
          text={`${kubectlOf(undefined)} get --raw '${auditPath(filter, viewLimits.auditLines)}'`}
        />
      </div>
      <Lines search={search} onUser={(user) => setValues({ user })} />
    </PageFrame>
  )
}

interface FilterFieldProps {
  readonly name: (typeof auditFields)[number]
  readonly value: string
  readonly onChange: (value: string) => void
}

function FilterField({ name, value, onChange }: FilterFieldProps) {
  const texts = useTexts(both)
  const isTime = name === 'since' || name === 'until'
  return (
    <label className="select">
      <span>{texts.fields[name]}</span>
      <input
        type={isTime ? 'datetime-local' : 'text'}
        className={isTime ? 'moment' : undefined}
        value={isTime ? fieldOfTime(value) : value}
        spellCheck={false}
        onChange={({ target }) => onChange(isTime ? timeOfField(target.value) : target.value)}
      />
    </label>
  )
}

interface LinesProps {
  readonly search: Search
  /** Shows the requests of one user alone. */
  readonly onUser: (user: string) => void
}

function Lines({ search, onUser }: LinesProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const { events, cutAt, error } = search
  if (error !== undefined) return <Failed error={error} onRetry={search.again} />
  if (events === undefined) return <Loading />
  const more = cutAt !== null && (
    <button type="button" className="button" disabled={search.isBusy} onClick={search.more}>
      {texts.more}
    </button>
  )
  if (events.length === 0) return <Empty title={texts.none}>{more}</Empty>
  return (
    <>
      <DataTable
        label={texts.title}
        rows={events}
        columns={columnsOf(texts, onUser)}
        keyOf={keyOf}
      />
      <div className="bar">
        <span className="muted">{words.rows(events.length, events.length)}</span>
        {more}
      </div>
    </>
  )
}

interface Search {
  readonly events: readonly AuditEvent[] | undefined
  readonly replica: string | undefined
  readonly cutAt: string | null
  readonly error: HubError | undefined
  readonly isBusy: boolean
  readonly again: () => void
  /** Goes on with older lines. */
  readonly more: () => void
}

interface Found {
  readonly events?: readonly AuditEvent[]
  readonly replica?: string
  readonly cutAt: string | null
  readonly error?: HubError
  readonly isBusy: boolean
}

/** Searches when nobody has typed for a moment. */
function useSearch(filter: AuditFilter): Search {
  const [found, setFound] = useState<Found>({ cutAt: null, isBusy: true })
  const [turn, setTurn] = useState(0)
  const path = auditPath(filter, viewLimits.auditLines)
  useEffect(() => {
    const stop = new AbortController()
    const ask = async (): Promise<void> => {
      try {
        const answer = await askJson<AuditAnswer>(path, { signal: stop.signal })
        setFound({ ...answer, isBusy: false })
      } catch (thrown) {
        if (stop.signal.aborted) return
        setFound({ cutAt: null, isBusy: false, error: asHubError(thrown) })
      }
    }
    setFound((before) => ({ ...before, isBusy: true }))
    const timer = browserClock.after(timeLimits.pauseMs, () => void ask())
    return () => {
      timer.cancel()
      stop.abort()
    }
  }, [path, turn])
  const more = async (): Promise<void> => {
    const { cutAt, events = [] } = found
    if (cutAt === null) return
    setFound({ ...found, isBusy: true })
    try {
      const older = await askJson<AuditAnswer>(auditPath(filter, viewLimits.auditLines, cutAt))
      // Nothing new up to the same moment: a further search would bring the same again.
      const isEnd = older.cutAt === cutAt
      setFound({
        replica: older.replica,
        cutAt: isEnd ? null : older.cutAt,
        events: withOlder(events, older.events),
        isBusy: false,
      })
    } catch (thrown) {
      setFound({ ...found, isBusy: false, error: asHubError(thrown) })
    }
  }
  return {
    events: found.events,
    replica: found.replica,
    cutAt: found.cutAt,
    error: found.error,
    isBusy: found.isBusy,
    again: () => setTurn(turn + 1),
    more: () => void more(),
  }
}

function columnsOf(texts: AuditTexts, onUser: (user: string) => void): Column<AuditEvent>[] {
  return [
    {
      key: 'time',
      title: texts.time,
      width: '76px',
      cell: ({ time }) => <Age atMs={Date.parse(time)} isBare />,
      sortBy: ({ time }) => -Date.parse(time),
    },
    {
      key: 'user',
      title: texts.fields.user,
      width: 'minmax(80px, 1.2fr)',
      cell: ({ user, impersonator }) => (
        <span title={user}>
          <button type="button" className="link-button" onClick={() => onUser(user ?? '')}>
            {user}
          </button>
          {impersonator === undefined ? undefined : (
            <span className="muted"> {texts.by(impersonator)}</span>
          )}
        </span>
      ),
      sortBy: ({ user = '' }) => user,
    },
    {
      key: 'method',
      title: texts.method,
      width: '60px',
      cell: ({ method }) => method,
      sortBy: ({ method }) => method,
    },
    {
      key: 'status',
      title: texts.status,
      width: '60px',
      isNumber: true,
      isWide: true,
      cell: ({ status = 0 }) => (
        <span className={status >= 500 ? 'tone-bad toned' : status >= 400 ? 'tone-warn toned' : ''}>
          {status === 0 ? '–' : status}
        </span>
      ),
      sortBy: ({ status = 0 }) => status,
    },
    ...targetColumns(texts),
  ]
}

/** The address of a request, and how long it took. */
function targetColumns(texts: AuditTexts): Column<AuditEvent>[] {
  return [
    {
      key: 'cluster',
      title: texts.fields.cluster,
      width: 'minmax(80px, 1fr)',
      isWide: true,
      cell: ({ cluster }) =>
        cluster === undefined ? undefined : (
          <Link href={`/clusters/${encodeURIComponent(cluster)}`}>{cluster}</Link>
        ),
      sortBy: ({ cluster = '' }) => cluster,
    },
    {
      key: 'uri',
      title: texts.path,
      width: 'minmax(90px, 4fr)',
      cell: (event) => (
        <span className="mono" title={event.uri}>
          {shownUri(event)}
        </span>
      ),
    },
    {
      key: 'ms',
      title: texts.took,
      width: '80px',
      isNumber: true,
      isWide: true,
      cell: ({ ms }) => (ms === undefined ? '–' : `${ms} ms`),
      sortBy: ({ ms = 0 }) => ms,
    },
  ]
}
