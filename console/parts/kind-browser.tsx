/** Objects of any kind that a server has, chosen from its own discovery. */
import { kindKey, type DiscoveredKind } from '../data/objects/discovered-kinds.ts'
import type { RowMetadata } from '../data/objects/table-rows.ts'
import { useKinds } from '../data/objects/use-kinds.ts'
import { useUrlValues } from '../data/browser/use-url-values.ts'
import { useTexts } from '../words/language.ts'
import { Empty, Failed, Loading } from './answer-state.tsx'
import { ChoiceField } from './choice-field.tsx'
import { ResourceTable } from './resource-table.tsx'
import { resourceTexts } from './resource-texts.ts'

interface KindBrowserProps {
  readonly cluster: string | undefined
  /** Shows these groups alone. If omitted, all. */
  readonly groups?: readonly string[]
  /** The kind that is shown first, as `resource.group`. */
  readonly first: string
  /** The page of an object, for kinds that have one of their own. */
  readonly pageOf?: (kind: DiscoveredKind, metadata: RowMetadata) => string | undefined
  /** Says how to fill an empty list of a kind. */
  readonly emptyHintOf?: (kind: DiscoveredKind) => React.ReactNode
}

export function KindBrowser({ cluster, groups, first, pageOf, emptyHintOf }: KindBrowserProps) {
  const texts = useTexts(resourceTexts)
  const [values, setValues] = useUrlValues()
  const { kinds, error, retry } = useKinds(cluster)
  if (error !== undefined) return <Failed error={error} onRetry={retry} />
  if (kinds === undefined) return <Loading />
  const offered = kinds.filter(({ group }) => groups === undefined || groups.includes(group))
  const wanted = values.kind ?? first
  const chosen = offered.find((each) => kindKey(each) === wanted) ?? offered[0]
  if (chosen === undefined) return <Empty title={texts.noKinds} />
  return (
    <ResourceTable
      key={kindKey(chosen)}
      cluster={cluster}
      resource={chosen}
      isNamespaced={chosen.isNamespaced}
      emptyHint={emptyHintOf?.(chosen)}
      {...(pageOf === undefined ? {} : { pageOf: (metadata) => pageOf(chosen, metadata) })}
      choices={
        <ChoiceField
          label={texts.kind}
          value={kindKey(chosen)}
          choices={offered.map((each) => [kindKey(each), kindKey(each)] as const)}
          onChange={(next) => setValues({ kind: next === first ? '' : next })}
        />
      }
    />
  )
}
