/** The fleet at a glance: how many clusters are well, which ones need a look, and where they are. */
import { lazy, memo, Suspense, useDeferredValue, useMemo } from 'react'
import { Link } from 'wouter'
import {
  groupFleet,
  isOutOfSight,
  labelKeys,
  matchesFilter,
  needsAttention,
  type FleetGroup,
  type FleetRow,
  type GroupKey,
} from '../../data/fleet/fleet.ts'
import { placesObject, readPlaces, type PlacesObject } from '../../data/fleet/fleet-places.ts'
import { useFleet } from '../../data/fleet/fleet-rows.ts'
import { useWaitingAgents } from '../../data/edge/use-registrations.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { useWatchedObject } from '../../data/streams/use-watched-object.ts'
import { viewLimits } from '../../limits-table.ts'
import { Age } from '../../parts/age.tsx'
import { Empty, Loading } from '../../parts/answer-state.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { RowLink } from '../../parts/row-link.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { readStates, StateFilter } from '../../parts/state-filter.tsx'
import { StateMark, StateShape } from '../../parts/state-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { attentionOrder } from './attention-order.ts'
import { texts as both } from './texts.ts'

const MapView = lazy(async () => ({ default: (await import('./map-view.tsx')).MapView }))

export function FleetPage() {
  const texts = useTexts(both)
  const { view, rows, retry } = useFleet()
  if (view.error !== undefined) {
    return <FailedPage title={texts.title} error={view.error} onRetry={retry} />
  }
  return (
    <PageFrame
      title={texts.title}
      view={view}
      mark={
        view.phase === 'loading' ? undefined : (
          <span className="muted">{texts.clusters(rows.length)}</span>
        )
      }
    >
      {view.phase === 'loading' ? (
        <Loading />
      ) : rows.length === 0 ? (
        <EmptyFleet />
      ) : (
        <FleetBody rows={rows} />
      )}
    </PageFrame>
  )
}

function EmptyFleet() {
  const texts = useTexts(both)
  return (
    <Empty title={texts.empty}>
      <p>{texts.emptyHint}</p>
      <p className="command">
        <code>skerry cluster join-command NAME</code>
      </p>
    </Empty>
  )
}

function FleetBody({ rows }: { readonly rows: readonly FleetRow[] }) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const states = readStates(values.state)
  const text = useDeferredValue(values.q ?? '')
  const filtered = useMemo(
    () => rows.filter((row) => matchesFilter(row, { text, states: readStates(values.state) })),
    [rows, text, values.state],
  )
  const group = readGroup(values.group)
  const { object } = useWatchedObject<PlacesObject>(placesObject)
  const places = useMemo(() => readPlaces(object), [object])
  const isMap = places.size > 0 && values.view !== 'grid'
  return (
    <>
      <div className="bar">
        <StateFilter
          rows={rows}
          chosen={states}
          onChange={(next) => setValues({ state: next.join(',') })}
        />
        <span className="page-space" />
        {places.size === 0 ? undefined : (
          <ChoiceField
            label={texts.view}
            value={isMap ? 'map' : 'grid'}
            choices={[
              ['map', texts.map],
              ['grid', texts.grid],
            ]}
            onChange={(view) => setValues({ view: view === 'grid' ? view : '' })}
          />
        )}
        {isMap ? undefined : (
          <ChoiceField
            label={texts.group}
            value={group}
            choices={groupChoices(rows, texts.groups)}
            onChange={(next) => setValues({ group: next === 'region' ? '' : next })}
          />
        )}
        <SearchField
          value={values.q ?? ''}
          label={texts.filter}
          onChange={(q) => setValues({ q })}
        />
      </div>
      <Attention rows={filtered} />
      {isMap ? (
        <Suspense fallback={<Loading />}>
          <MapView rows={filtered} places={places} />
        </Suspense>
      ) : (
        <Grid rows={filtered} groupKey={group} isDense={rows.length > viewLimits.namedCells} />
      )}
    </>
  )
}

interface GridProps {
  readonly rows: readonly FleetRow[]
  readonly groupKey: GroupKey
  /** A large fleet shows shapes without names. */
  readonly isDense: boolean
}

/** All clusters in groups. A region is divided further into its zones. */
function Grid({ rows, groupKey, isDense }: GridProps) {
  const texts = useTexts(both)
  const groups = useMemo(() => groupFleet(rows, groupKey), [rows, groupKey])
  return (
    <section aria-label={texts.places}>
      {groups.slice(0, viewLimits.groupsMax).map((group) => (
        <Place key={group.name} group={group} groupKey={groupKey} isDense={isDense} />
      ))}
    </section>
  )
}

/** Shows the clusters that need a look, the worst and newest trouble first. */
function Attention({ rows }: { readonly rows: readonly FleetRow[] }) {
  const texts = useTexts(both)
  const found = useMemo(() => rows.filter(needsAttention).toSorted(attentionOrder), [rows])
  const shown = found.slice(0, viewLimits.attentionRows)
  const waiting = useWaitingAgents()
  return (
    <section className="panel" aria-label={texts.attention}>
      <h2>{texts.attention}</h2>
      {shown.length + waiting === 0 ? <p className="muted">{texts.allWell}</p> : undefined}
      <ul className="attention">
        {waiting === 0 ? undefined : (
          <li>
            <StateMark state="pending" />
            <Link href="/connect" className="attention-waiting">
              {texts.waiting(waiting)}
            </Link>
          </li>
        )}
        {shown.map((row) => (
          <li key={row.n} className={isOutOfSight(row) ? 'is-old' : ''}>
            <StateMark state={row.s}>
              {row.t === undefined ? undefined : <Age atMs={row.t * 1_000} isBare />}
            </StateMark>
            <Link href={`/clusters/${encodeURIComponent(row.n)}`}>{row.n}</Link>
            <span className="muted">{[row.r, row.z].filter(Boolean).join(' / ')}</span>
            <span className="attention-message">{row.m}</span>
          </li>
        ))}
      </ul>
      {found.length > shown.length ? (
        <Link href="/clusters?state=failed,away,degraded,unknown">
          {texts.more(found.length - shown.length)}
        </Link>
      ) : undefined}
    </section>
  )
}

interface PlaceProps {
  readonly group: FleetGroup
  readonly groupKey: GroupKey
  readonly isDense: boolean
}

/** One place, with a cell for each cluster in it. */
function Place({ group, groupKey, isDense }: PlaceProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const zones = groupKey === 'region' ? groupFleet(group.rows, 'zone') : []
  const without =
    groupKey in texts.noPlace
      ? texts.noPlace[groupKey as keyof typeof texts.noPlace]
      : texts.noLabel
  const isState = groupKey === 'state'
  const word = words.states[group.name as keyof typeof words.states]
  return (
    <section className="place">
      <h3>
        {isState ? word : group.name === '' ? without : group.name}
        <span className="muted">{group.rows.length}</span>
      </h3>
      {zones.length < 2 ? (
        <Cells rows={group.rows} isDense={isDense} />
      ) : (
        zones.map((zone) => (
          <div key={zone.name} className="zone">
            <p className="muted">{zone.name === '' ? texts.noPlace.zone : zone.name}</p>
            <Cells rows={zone.rows} isDense={isDense} />
          </div>
        ))
      )}
    </section>
  )
}

function Cells({ rows, isDense }: Pick<GridProps, 'rows' | 'isDense'>) {
  const words = useTexts(partTexts)
  return (
    <ul className={isDense ? 'cells is-dense' : 'cells'}>
      {rows.map((row) => (
        <Cell key={row.n} row={row} word={words.states[row.s]} />
      ))}
    </ul>
  )
}

interface CellProps {
  readonly row: FleetRow
  readonly word: string
}

/** Drawn again only if its own row has changed: a fleet has thousands of them. */
const Cell = memo(function Cell({ row, word }: CellProps) {
  return (
    <li>
      <RowLink
        href={`/clusters/${encodeURIComponent(row.n)}`}
        className={`cell-link state-${row.s}`}
        aria-label={`${row.n}: ${word}`}
        title={cellTitle(row, word)}
      >
        <StateShape state={row.s} />
        <span className="cell-name">{row.n}</span>
      </RowLink>
    </li>
  )
})

function cellTitle(row: FleetRow, word: string): string {
  const place = [row.r, row.z].filter(Boolean).join(' / ')
  return [`${row.n} · ${word}`, place, row.v, row.m].filter(Boolean).join('\n')
}

const plainGroups = ['region', 'zone', 'provider', 'version', 'state'] as const

function groupChoices(
  rows: readonly FleetRow[],
  titles: Readonly<Record<(typeof plainGroups)[number], string>>,
): (readonly [GroupKey, string])[] {
  const plain = plainGroups.map((key) => [key, titles[key]] as const)
  const labels = labelKeys(rows)
    .slice(0, viewLimits.labelChoices)
    .map((key): readonly [GroupKey, string] => [`label:${key}`, key])
  return [...plain, ...labels]
}

function readGroup(text: string | undefined): GroupKey {
  if (text?.startsWith('label:')) return `label:${text.slice('label:'.length)}`
  return plainGroups.find((key) => key === text) ?? 'region'
}
