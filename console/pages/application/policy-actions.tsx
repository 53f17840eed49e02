/** Actions for the policy that has claimed an object: suspend it, resume it, change its waves. */
import { useState } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { listPath, objectPath, type ObjectName } from '../../data/hub/api-paths.ts'
import type { ExplainedPolicy } from '../../data/fleet/explanation.ts'
import { askHub, askJson } from '../../data/hub/hub-request.ts'
import { claimant, claimLabel, policyObject } from '../../data/fleet/policy-names.ts'
import { useMay } from '../../data/hub/rights.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { useWatchedObject } from '../../data/streams/use-watched-object.ts'
import { viewLimits } from '../../limits-table.ts'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import type { Binding } from './application-rows.ts'
import {
  kubectlPatch,
  suspendedClusters,
  suspendOnPatch,
  suspendPatch,
  wavesForm,
  wavesPatch,
  type Policy,
  type PolicyPatch,
} from './suspension.ts'
import { texts as both } from './texts.ts'

interface PolicyActionsProps {
  readonly binding: Binding
  readonly actions: 'dispatching' | 'waves'
}

export function PolicyActions({ binding, actions }: PolicyActionsProps) {
  const named = claimant(binding)
  const object = named === undefined ? undefined : policyObject(named)
  if (named === undefined || object === undefined) return undefined
  return actions === 'waves' ? (
    <Waves named={named} object={object} />
  ) : (
    <Dispatching named={named} object={object} binding={binding} />
  )
}

interface OfPolicy {
  readonly named: ExplainedPolicy
  readonly object: ObjectName
}

function usePatch({ named, object }: OfPolicy): (patch: PolicyPatch) => {
  readonly line: string
  readonly act: () => Promise<void>
} {
  const queries = useQueryClient()
  return (patch) => ({
    line: kubectlPatch(named, patch),
    act: async () => {
      await askHub(`${objectPath(undefined, object)}?fieldManager=skerry-console`, {
        method: 'PATCH',
        body: patch,
        contentType: 'application/merge-patch+json',
      })
      const isExplained = (key: unknown): boolean =>
        typeof key === 'string' && key.startsWith('/hub/v1/explain?')
      await queries.invalidateQueries({ predicate: ({ queryKey }) => isExplained(queryKey[0]) })
    },
  })
}

function Dispatching({ named, object, binding }: OfPolicy & { readonly binding: Binding }) {
  const texts = useTexts(both)
  const { object: policy } = useWatchedObject<Policy>(object)
  const mayPatch = useMay(undefined, { verb: 'patch', object })
  const patchOf = usePatch({ named, object })
  const claimed = useClaimed(named, policy)
  const action = useAction()
  const actionThere = useAction()
  const [chosen, setChosen] = useState('')
  if (policy === undefined) return undefined
  const isSuspended = policy.spec.suspension?.dispatching === true
  const suspended = suspendedClusters(policy)
  const names = (binding.spec.clusters ?? []).map(({ name }) => name)
  const cluster = names.find((name) => name === chosen) ?? names[0]
  const isSuspendedThere = cluster !== undefined && suspended.includes(cluster)
  return (
    <section className="panel">
      <h2>{texts.dispatching}</h2>
      <WordMark tone={isSuspended ? 'off' : suspended.length > 0 ? 'warn' : 'ok'}>
        {isSuspended ? texts.suspended : texts.suspendedOn(suspended.length)}
      </WordMark>
      <p className="muted">{texts.suspendHint}</p>
      {mayPatch === true ? (
        <div className="empty-actions">
          <ConfirmButton
            label={isSuspended ? texts.resume : texts.suspend}
            isBad={!isSuspended}
            action={action}
            {...patchOf(suspendPatch(!isSuspended))}
          >
            <p>{isSuspended ? texts.resumeWhat(claimed) : texts.suspendWhat(claimed)}</p>
          </ConfirmButton>
        </div>
      ) : undefined}
      {mayPatch !== true || isSuspended || cluster === undefined ? undefined : (
        <div className="bar">
          <ChoiceField
            label={texts.cluster}
            value={cluster}
            choices={names.map((name) => [name, name] as const)}
            onChange={setChosen}
          />
          <ConfirmButton
            label={isSuspendedThere ? texts.resumeThere : texts.suspendThere}
            isBad={!isSuspendedThere}
            action={actionThere}
            {...patchOf(suspendOnPatch(policy, cluster, !isSuspendedThere))}
          >
            <p>{isSuspendedThere ? texts.resumeWhat(claimed) : texts.suspendWhat(claimed)}</p>
            <p className="mono">{cluster}</p>
          </ConfirmButton>
        </div>
      )}
      {mayPatch === false ? <p className="muted">{texts.mayNotPatch(named.name)}</p> : undefined}
    </section>
  )
}

interface ListAnswer {
  readonly items?: readonly unknown[]
  readonly metadata?: { readonly continue?: string }
}

const namesOnly = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const bindings = { group: 'work.karmada.io', version: 'v1alpha2', resource: 'resourcebindings' }

/** How many objects a policy has claimed, in the user's words: `12`, `500+`; `?` if nobody may say. */
function useClaimed(named: ExplainedPolicy, policy: Policy | undefined): string {
  const label = claimLabel(named.kind)
  const id = policy?.metadata.labels?.[label]
  const kinds =
    named.namespace === undefined
      ? [bindings, { ...bindings, resource: 'clusterresourcebindings' }]
      : [bindings]
  const { data } = useQuery({
    queryKey: ['claimed', label, id],
    enabled: id !== undefined,
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({
        labelSelector: `${label}=${id}`,
        limit: String(viewLimits.claimedMax),
      })
      const lists = await Promise.all(
        kinds.map((kind) =>
          askJson<ListAnswer>(`${listPath(undefined, kind, named.namespace)}?${query.toString()}`, {
            accept: namesOnly,
            signal,
          }),
        ),
      )
      const count = lists.reduce((total, { items = [] }) => total + items.length, 0)
      return lists.some(({ metadata }) => (metadata?.continue ?? '') !== '')
        ? `${count}+`
        : `${count}`
    },
  })
  return data ?? '?'
}

function Waves({ named, object }: OfPolicy) {
  const texts = useTexts(both)
  const { object: policy } = useWatchedObject<Policy>(object)
  const mayPatch = useMay(undefined, { verb: 'patch', object })
  const patchOf = usePatch({ named, object })
  const action = useAction()
  const [typed, setTyped] = useState<Partial<ReturnType<typeof wavesForm>>>({})
  if (policy === undefined || mayPatch !== true) return undefined
  const form = { ...wavesForm(policy), ...typed }
  return (
    <div>
      <ConfirmButton
        label={texts.changeWaves}
        isBad={false}
        action={action}
        {...patchOf(wavesPatch(form))}
      >
        <p>{texts.changeWavesWhat}</p>
        <TextField
          label={texts.waves}
          value={form.waves}
          placeholder="stage=pilot; 10%; 50%"
          hint={texts.wavesFieldHint}
          onChange={(waves) => setTyped({ ...typed, waves })}
        />
        <TextField
          label={texts.percent}
          value={form.percent}
          placeholder="100"
          hint={texts.percentHint}
          onChange={(percent) => setTyped({ ...typed, percent })}
        />
      </ConfirmButton>
    </div>
  )
}
