/** One policy: the clusters that it is for, the objects that it has claimed, and its YAML. */
import { Link } from 'wouter'
import { usePathWords } from '../../data/browser/use-path-words.ts'
import { applicationPage, type ExplainedPolicy } from '../../data/fleet/explanation.ts'
import { claimLabel, policyObject, policyPage } from '../../data/fleet/policy-names.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { useWatchedObject } from '../../data/streams/use-watched-object.ts'
import { Empty, Loading } from '../../parts/answer-state.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { ObjectYaml } from '../../parts/object-yaml.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { PolicyOutcome } from '../../parts/policy-outcome.tsx'
import { ResourceTable } from '../../parts/resource-table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

interface PolicyBody {
  readonly metadata: {
    readonly resourceVersion?: string
    readonly labels?: Readonly<Record<string, string>>
  }
}

export function PolicyPage() {
  const texts = useTexts(both)
  const { kind = '', namespace = '-', name = '', tab } = usePathWords()
  const policy = { kind, name, ...(namespace === '-' ? {} : { namespace }) }
  const named = policyObject(policy)
  const { object, view, retry } = useWatchedObject<PolicyBody>(named)
  const above = (
    <>
      <Link href={`/policies?kind=${encodeURIComponent(kind)}`}>{texts.policies}</Link>
      {policy.namespace === undefined ? undefined : <span>{policy.namespace}</span>}
      <span>{kind}</span>
    </>
  )
  if (view.error !== undefined) {
    return <FailedPage title={name} above={above} error={view.error} onRetry={retry} />
  }
  return (
    <PageFrame title={name} view={view} above={above}>
      {object === undefined || named === undefined ? (
        view.phase === 'loading' && named !== undefined ? (
          <Loading />
        ) : (
          <Empty title={texts.noPolicy(name)} />
        )
      ) : (
        <Body policy={policy} object={object} tab={tab} />
      )}
    </PageFrame>
  )
}

interface BodyProps {
  readonly policy: ExplainedPolicy
  readonly object: PolicyBody
  readonly tab: string | undefined
}

function Body({ policy, object, tab }: BodyProps) {
  const texts = useTexts(both)
  const isPropagation = policy.kind.endsWith('PropagationPolicy')
  const keys = isPropagation
    ? (['preview', 'objects', 'yaml'] as const)
    : (['preview', 'yaml'] as const)
  const current = [...keys].find((key) => key === tab) ?? 'preview'
  const page = policyPage(policy)
  const named = policyObject(policy)
  return (
    <>
      <Tabs
        label={policy.name}
        current={current}
        tabs={keys.map((key) => ({
          key,
          title: texts.tabs[key],
          href: key === 'preview' ? page : `${page}/${key}`,
        }))}
      />
      <div className="page-body">
        {current === 'preview' ? (
          <Preview
            key={object.metadata.resourceVersion}
            policy={policy}
            isDivided={isPropagation}
          />
        ) : undefined}
        {current === 'objects' ? <Objects policy={policy} object={object} /> : undefined}
        {current === 'yaml' && named !== undefined ? (
          <ObjectYaml
            cluster={undefined}
            object={named}
            outcome={(next) => <PolicyOutcome policy={policy} replicas="" object={next} />}
          />
        ) : undefined}
      </div>
    </>
  )
}

interface PreviewProps {
  readonly policy: ExplainedPolicy
  readonly isDivided: boolean
}

function Preview({ policy, isDivided }: PreviewProps) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const replicas = /^\d{1,6}$/.test(values.replicas ?? '') ? (values.replicas ?? '') : ''
  return (
    <>
      <p className="muted">{texts.previewHint}</p>
      {isDivided ? (
        <div className="fields">
          <TextField
            label={texts.replicas}
            value={values.replicas ?? ''}
            placeholder={texts.noReplicas}
            onChange={(next) => setValues({ replicas: next.trim() })}
          />
        </div>
      ) : undefined}
      <PolicyOutcome policy={policy} replicas={replicas} />
    </>
  )
}

const work = { group: 'work.karmada.io', version: 'v1alpha2' }
const bindings = {
  namespaced: { ...work, resource: 'resourcebindings' },
  wide: { ...work, resource: 'clusterresourcebindings' },
}

function Objects({ policy, object }: Pick<BodyProps, 'policy' | 'object'>) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const label = claimLabel(policy.kind)
  const id = object.metadata.labels?.[label]
  const scope = policy.namespace === undefined && values.scope === 'wide' ? 'wide' : 'namespaced'
  if (id === undefined) return <Empty title={texts.noObjects} />
  return (
    <ResourceTable
      key={scope}
      cluster={undefined}
      resource={bindings[scope]}
      isNamespaced={scope === 'namespaced'}
      labelSelector={`${label}=${id}`}
      pageOf={applicationPage}
      choices={
        policy.namespace === undefined ? (
          <ChoiceField
            label={texts.scope}
            value={scope}
            choices={[
              ['namespaced', texts.namespaced],
              ['wide', texts.wide],
            ]}
            onChange={(next) => setValues({ scope: next === 'wide' ? next : '' })}
          />
        ) : undefined
      }
    />
  )
}
