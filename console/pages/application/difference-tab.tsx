import { lazy, Suspense, useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { policyPage } from '../../data/fleet/policy-names.ts'
import { asHubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { useKinds, useNamed } from '../../data/objects/use-kinds.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { useWatched } from '../../data/streams/console-context.tsx'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { StandingMark } from '../../parts/standing-mark.tsx'
import { useTexts } from '../../words/language.ts'
import {
  applicationRows,
  byStanding,
  type ApplicationRow,
  type Binding,
} from './application-rows.ts'
import { comparedYaml, type ComparedObject } from './shown-manifest.ts'
import { texts as both } from './texts.ts'
import { useExplanation } from './use-explanation.ts'
import { workPath, workSelector } from './work-selector.ts'

const YamlDifference = lazy(async () => ({
  default: (await import('../../parts/yaml-difference.tsx')).YamlDifference,
}))

/** The object as one cluster gets it, compared with the one on the hub. */
export function DifferenceTab({ binding }: { readonly binding: Binding }) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const { data } = useExplanation(binding.spec.resource)
  const rows = useMemo(
    () =>
      applicationRows(binding, data)
        .filter(({ standing }) => standing !== 'NotPlaced')
        .toSorted((a, b) => b.overrides.length - a.overrides.length || byStanding(a, b)),
    [binding, data],
  )
  const row = rows.find(({ cluster }) => cluster === values.cluster) ?? rows[0]
  const selector = workSelector(binding)
  if (row === undefined || selector === undefined) return <Empty title={texts.nowhere} />
  return (
    <>
      <div className="bar">
        <ChoiceField
          label={texts.cluster}
          value={row.cluster}
          choices={rows.map(({ cluster }) => [cluster, cluster] as const)}
          onChange={(cluster) => setValues({ cluster })}
        />
        <StandingMark standing={row.standing} />
        <span className="muted">{texts.differenceHint}</span>
      </div>
      <Overrides row={row} />
      <Compared key={row.cluster} binding={binding} path={workPath(row.cluster, selector)} />
    </>
  )
}

function Overrides({ row }: { readonly row: ApplicationRow }) {
  const texts = useTexts(both)
  if (row.overrides.length === 0) return <p className="muted">{texts.noOverrides}</p>
  return (
    <p>
      {texts.overriddenBy}{' '}
      {row.overrides.map(({ policy, namespace, rule }) => {
        const kind = namespace === undefined ? 'ClusterOverridePolicy' : 'OverridePolicy'
        const named = { kind, name: policy, ...(namespace === undefined ? {} : { namespace }) }
        return (
          <Link key={`${namespace}/${policy}#${rule}`} href={policyPage(named)} className="chip">
            {policy}#{rule}
          </Link>
        )
      })}
    </p>
  )
}

/** A Work, as far as it is compared. */
interface Work {
  readonly spec?: { readonly workload?: { readonly manifests?: readonly ComparedObject[] } }
}

interface ComparedProps {
  readonly binding: Binding
  readonly path: string
}

function Compared({ binding, path }: ComparedProps) {
  const texts = useTexts(both)
  const kinds = useKinds(undefined)
  const named = useNamed(binding.spec.resource)
  const template = useQuery({
    queryKey: ['template', named?.path],
    enabled: named !== undefined,
    queryFn: ({ signal }) => askJson<ComparedObject>(named?.path ?? '', { signal }),
  })
  const view = useWatched(path)
  const error =
    view.error ?? kinds.error ?? (template.error === null ? undefined : asHubError(template.error))
  // Works of the hub.
  const work = [...view.items.values()][0] as Work | undefined
  const manifest = work?.spec?.workload?.manifests?.[0]
  if (error !== undefined) return <Failed error={error} />
  if (view.phase === 'loading' || template.data === undefined) return <Loading />
  if (manifest === undefined) return <Empty title={texts.noWork} />
  const [before, after] = [comparedYaml(template.data), comparedYaml(manifest)]
  if (before === after) return <p className="panel">{texts.noDifference}</p>
  return (
    <div className="yaml">
      <Suspense fallback={<Loading />}>
        <YamlDifference label={texts.tabs.difference} before={before} after={after} />
      </Suspense>
    </div>
  )
}
