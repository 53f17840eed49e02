/** Policies of the fleet: where objects go, and what differs from cluster to cluster. */
import { Link } from 'wouter'
import {
  isPolicyKind,
  policyKinds,
  policyPage,
  type PolicyKind,
} from '../../data/fleet/policy-names.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { ResourceTable } from '../../parts/resource-table.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const kinds: readonly PolicyKind[] = [
  'PropagationPolicy',
  'ClusterPropagationPolicy',
  'OverridePolicy',
  'ClusterOverridePolicy',
]

export function PoliciesPage() {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const kind = isPolicyKind(values.kind) ? values.kind : 'PropagationPolicy'
  const resource = policyKinds[kind]
  const namespace = resource.isNamespaced ? (values.namespace ?? '') : ''
  return (
    <PageFrame
      title={texts.title}
      mark={<span className="muted">{texts.hints[kind]}</span>}
      actions={
        <Allowed action={{ verb: 'create', object: { ...resource, namespace, name: '' } }}>
          <Link href="/new-policy" className="button is-main">
            <Icon name="add" />
            {texts.create}
          </Link>
        </Allowed>
      }
    >
      <ResourceTable
        key={kind}
        cluster={undefined}
        resource={resource}
        isNamespaced={resource.isNamespaced}
        emptyHint={<Link href="/new-policy">{texts.create}</Link>}
        pageOf={({ namespace, name = '' }) =>
          policyPage({ kind, name, ...(namespace === undefined ? {} : { namespace }) })
        }
        choices={
          <ChoiceField
            label={texts.kind}
            value={kind}
            choices={kinds.map((each) => [each, texts.kinds[each]] as const)}
            onChange={(next) => setValues({ kind: next === 'PropagationPolicy' ? '' : next })}
          />
        }
      />
    </PageFrame>
  )
}
