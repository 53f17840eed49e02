import { useMemo } from 'react'
import { objectPage } from '../../data/hub/api-paths.ts'
import type { DiscoveredKind } from '../../data/objects/discovered-kinds.ts'
import { commandLine, listCommand } from '../../data/objects/object-commands.ts'
import { useKinds } from '../../data/objects/use-kinds.ts'
import { childRows, placedPage, type ChildRow } from '../../data/places/placed-application.ts'
import { Empty, Loading } from '../../parts/answer-state.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { AnswerFault } from './answer-fault.tsx'
import { childColumns } from './child-columns.tsx'
import { texts as both } from './texts.ts'
import { usePlacedExplanation, type Placed } from './use-placed-explanation.ts'

/** The child of each place: how it is, and in how many fields it differs. */
export function ChildrenTab({ cluster, kind, app }: Placed) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const { kinds } = useKinds(cluster)
  const answer = usePlacedExplanation({ cluster, kind, app })
  const rows = useMemo(() => childRows(app, answer.data), [app, answer.data])
  const { namespace = '' } = app.metadata
  const own = kinds?.find((each) => each.kind === kind)
  const columns = useMemo(() => {
    const differences =
      own === undefined ? undefined : `${placedPage(cluster, own, app.metadata)}/differences`
    const pageOf = (row: ChildRow): string | undefined => childPage(row, { cluster, kinds, app })
    return childColumns(texts, { pageOf, differences })
  }, [texts, cluster, kinds, own, app])
  return (
    <>
      <div className="bar">
        <span className="page-space" />
        <span className="muted">{words.rows(rows.length, rows.length)}</span>
        {own === undefined ? undefined : (
          <CopyButton
            label={words.asKubectl}
            text={`${listCommand(cluster, own, namespace)} ${commandLine(app.metadata.name, '-o', 'yaml')}`}
          />
        )}
      </div>
      <AnswerFault answer={answer} />
      {app.status?.groups === undefined && rows.length > 0 ? (
        <p className="banner tone-warn">▲ {texts.noStates}</p>
      ) : undefined}
      {rows.length > 0 ? (
        <DataTable label={texts.places} rows={rows} columns={columns} keyOf={({ key }) => key} />
      ) : answer.data === undefined && answer.error === undefined ? (
        <Loading />
      ) : (
        <Empty title={texts.noChildren}>
          <p className="empty-text">{texts.noChildrenHint}</p>
        </Empty>
      )}
    </>
  )
}

interface ChildPlace extends Pick<Placed, 'cluster' | 'app'> {
  readonly kinds: readonly DiscoveredKind[] | undefined
}

/** The groups of children: a kind of the same word in another one is not meant. */
const childGroups: ReadonlySet<string> = new Set([
  '',
  'apps',
  'autoscaling',
  'batch',
  'networking.k8s.io',
  'policy',
])

function childPage({ kind, name }: ChildRow, { cluster, kinds, app }: ChildPlace) {
  const found = kinds?.find((each) => each.kind === kind && childGroups.has(each.group))
  if (found === undefined) return undefined
  const { group, version, resource } = found
  const { namespace = '' } = app.metadata
  return objectPage(cluster, { group, version, resource, namespace, name })
}
