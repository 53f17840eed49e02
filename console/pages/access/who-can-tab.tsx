import { useDeferredValue } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { listPath, objectPage, type ObjectName } from '../../data/hub/api-paths.ts'
import { useFleet } from '../../data/fleet/fleet-rows.ts'
import { asHubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { mayCommand } from '../../data/objects/object-commands.ts'
import { useMay } from '../../data/hub/rights.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import {
  readResource,
  whoCan,
  type BindingObject,
  type Grant,
  type Question,
  type Rbac,
  type RoleObject,
} from '../../data/fleet/who-can.ts'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'impersonate',
] as const

/** Asks who may do something at the hub or in a cluster, and whether the viewer may. */
export function WhoCanTab() {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const [values, setValues] = useUrlValues()
  const { rows } = useFleet()
  const { verb = 'get', resource = 'pods', namespace = '', at = '' } = values
  const cluster = at === '' ? undefined : at
  const asked = useDeferredValue(resource)
  const question: Question = { verb, namespace, name: '', ...readResource(asked) }
  const line = mayCommand(cluster, { verb, resource: asked, namespace })
  const places = [['', texts.atHub] as const, ...rows.map(({ n }) => [n, n] as const)]
  return (
    <>
      <div className="fields">
        <div className="field">
          <ChoiceField
            label={texts.where}
            value={at}
            choices={places}
            onChange={(next) => setValues({ at: next })}
          />
        </div>
        <div className="field">
          <ChoiceField
            label={texts.verb}
            value={verb}
            choices={verbs.map((each) => [each, each] as const)}
            onChange={(next) => setValues({ verb: next === 'get' ? '' : next })}
          />
        </div>
        <TextField
          label={texts.resource}
          value={resource}
          hint={texts.resourceHint}
          onChange={(next) => setValues({ resource: next })}
        />
        <TextField
          label={texts.namespace}
          value={namespace}
          placeholder={texts.everywhere}
          onChange={(next) => setValues({ namespace: next.trim() })}
        />
      </div>
      <div className="bar">
        <Mine cluster={cluster} question={question} />
        <span className="page-space" />
        <CopyButton label={words.asKubectl} text={line} />
      </div>
      <Grants cluster={cluster} question={question} />
    </>
  )
}

interface OfQuestion {
  readonly cluster: string | undefined
  readonly question: Question
}

function Mine({ cluster, question }: OfQuestion) {
  const texts = useTexts(both)
  const { verb, group, resource, subresource, namespace } = question
  const object: ObjectName = { group, version: '*', resource, name: '', namespace }
  const mayDo = useMay(cluster, { verb, object, subresource })
  if (mayDo === undefined) return <span className="muted">{texts.asking}</span>
  return <WordMark tone={mayDo ? 'ok' : 'off'}>{mayDo ? texts.youMay : texts.youMayNot}</WordMark>
}

const rbacGroup = { group: 'rbac.authorization.k8s.io', version: 'v1' }

async function readRbac(cluster: string | undefined, signal: AbortSignal): Promise<Rbac> {
  const list = async <Item,>(resource: string): Promise<readonly Item[]> => {
    const path = listPath(cluster, { ...rbacGroup, resource })
    return (await askJson<{ readonly items: readonly Item[] }>(path, { signal })).items
  }
  const [clusterRoles, roles, clusterBindings, bindings] = await Promise.all([
    list<RoleObject>('clusterroles'),
    list<RoleObject>('roles'),
    list<BindingObject>('clusterrolebindings'),
    list<BindingObject>('rolebindings'),
  ])
  return { roles: [...clusterRoles, ...roles], bindings: [...clusterBindings, ...bindings] }
}

function Grants({ cluster, question }: OfQuestion) {
  const texts = useTexts(both)
  const { data, error, refetch } = useQuery({
    queryKey: ['rbac', cluster],
    queryFn: ({ signal }) => readRbac(cluster, signal),
  })
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const grants = whoCan(data, question)
  if (grants.length === 0) return <Empty title={texts.nobody} />
  return (
    <>
      <p className="muted">{cluster === undefined ? texts.grantsAtHub : texts.grantsInCluster}</p>
      <DataTable
        label={texts.tabs['who-can']}
        rows={grants}
        columns={grantColumns(texts, cluster)}
        keyOf={({ subject, binding }) =>
          [
            subject.kind,
            subject.namespace,
            subject.name,
            binding.metadata.namespace,
            binding.metadata.name,
          ].join('/')
        }
      />
    </>
  )
}

type Texts = (typeof both)['en']

function grantColumns(texts: Texts, cluster: string | undefined): Column<Grant>[] {
  const page = (resource: string, name: string, namespace = ''): string =>
    objectPage(cluster, { ...rbacGroup, resource, name, namespace })
  return [
    {
      key: 'kind',
      title: texts.subjectKind,
      width: '140px',
      sortBy: ({ subject }) => subject.kind,
      cell: ({ subject }) => subject.kind,
    },
    {
      key: 'subject',
      title: texts.subject,
      width: 'minmax(160px, 2fr)',
      sortBy: ({ subject }) => subject.name,
      cell: ({ subject: { namespace, name } }) =>
        namespace === undefined ? name : `${namespace}/${name}`,
    },
    {
      key: 'binding',
      title: texts.binding,
      width: 'minmax(160px, 2fr)',
      isWide: true,
      sortBy: ({ binding }) => binding.metadata.name,
      cell: ({ binding: { metadata } }) => (
        <Link
          href={page(
            metadata.namespace === undefined ? 'clusterrolebindings' : 'rolebindings',
            metadata.name,
            metadata.namespace,
          )}
        >
          {metadata.name}
        </Link>
      ),
    },
    {
      key: 'role',
      title: texts.role,
      width: 'minmax(140px, 2fr)',
      sortBy: ({ binding }) => binding.roleRef.name,
      cell: ({ binding: { roleRef, metadata } }) => (
        <Link
          href={
            roleRef.kind === 'Role'
              ? page('roles', roleRef.name, metadata.namespace)
              : page('clusterroles', roleRef.name)
          }
        >
          {roleRef.name}
        </Link>
      ),
    },
  ]
}
