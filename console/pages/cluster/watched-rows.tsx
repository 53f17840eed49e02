import type { ListView } from '../../data/streams/watched-list.ts'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { Freshness } from '../../parts/freshness.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'

interface WatchedRowsProps {
  readonly views: readonly ListView[]
  readonly rows: readonly unknown[]
  /** For lists without an object. */
  readonly title: string
  readonly hint: string
  readonly children: React.ReactNode
}

/** Shows the rows of several lists, next to a list that a server refuses. Without rows it says why. */
export function WatchedRows({ views, rows, title, hint, children }: WatchedRowsProps) {
  const words = useTexts(partTexts)
  const errors = views.flatMap(({ error }) => error ?? [])
  const [error] = errors
  if (error !== undefined && errors.length === views.length) return <Failed error={error} />
  const isEmpty = views.every(({ items }) => items.size === 0)
  const away = views.find(({ phase }) => phase === 'away')
  return (
    <>
      <FaultLine fault={error} />
      {rows.length > 0 ? (
        children
      ) : views.some(({ phase }) => phase === 'loading') ? (
        <Loading />
      ) : away !== undefined && isEmpty ? (
        <Empty title={words.awayTitle}>{away.message}</Empty>
      ) : isEmpty ? (
        <Empty title={title}>
          <p className="empty-text">{hint}</p>
        </Empty>
      ) : (
        <Empty title={words.noMatch} />
      )}
    </>
  )
}

/** A page is as old as the oldest of its lists. */
export function OldestView({ views }: { readonly views: readonly ListView[] }) {
  const [oldest] = views
    .filter(({ phase }) => phase !== 'ended')
    .toSorted((a, b) => ageRank(a) - ageRank(b))
  return oldest === undefined ? undefined : <Freshness view={oldest} />
}

function ageRank({ phase, asOfMs = 0 }: ListView): number {
  return phase === 'live' ? Infinity : asOfMs
}
