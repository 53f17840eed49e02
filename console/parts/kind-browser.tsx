/** Objects of any kind that a server has, chosen from its own discovery. */
import { useQuery } from '@tanstack/react-query'
import { discoveredKinds, discoveryType, kindKey } from '../data/discovered-kinds.ts'
import { asHubError } from '../data/hub-error.ts'
import { askJson } from '../data/hub-request.ts'
import { useUrlValues } from '../data/use-url-values.ts'
import { useTexts } from '../words/language.ts'
import { Failed, Loading } from './answer-state.tsx'
import { ChoiceField } from './choice-field.tsx'
import { ResourceTable } from './resource-table.tsx'
import { resourceTexts } from './resource-texts.ts'

interface KindBrowserProps {
  readonly cluster: string | undefined
  /** Shows these groups alone. If omitted, all. */
  readonly groups?: readonly string[]
  /** The kind that is shown first, as `resource.group`. */
  readonly first: string
}

export function KindBrowser({ cluster, groups, first }: KindBrowserProps) {
  const texts = useTexts(resourceTexts)
  const [values, setValues] = useUrlValues()
  const base = cluster === undefined ? '' : `/clusters/${encodeURIComponent(cluster)}`
  const { data, error, refetch } = useQuery({
    queryKey: ['kinds', cluster],
    queryFn: async ({ signal }) => {
      const ask = (path: string): Promise<object> =>
        askJson<object>(`${base}${path}`, { accept: discoveryType, signal })
      return discoveredKinds(await Promise.all([ask('/api'), ask('/apis')]))
    },
  })
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const offered = data.filter(({ group }) => groups === undefined || groups.includes(group))
  const wanted = values.kind ?? first
  const chosen = offered.find((each) => kindKey(each) === wanted) ?? offered[0]
  if (chosen === undefined) return undefined
  return (
    <ResourceTable
      key={kindKey(chosen)}
      cluster={cluster}
      resource={chosen}
      isNamespaced={chosen.isNamespaced}
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
