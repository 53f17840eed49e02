/** The clusters that a policy is for, by the hub's own scheduler. */
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { ExplainedPolicy } from '../data/fleet/explanation.ts'
import { asHubError } from '../data/hub/hub-error.ts'
import { askJson } from '../data/hub/hub-request.ts'
import {
  previewPath,
  refusals,
  type PlacementPreview,
  type PolicyPreview,
} from '../data/fleet/policy-preview.ts'
import { viewLimits } from '../limits-table.ts'
import { inBoth, useTexts } from '../words/language.ts'
import { Failed, Loading } from './answer-state.tsx'
import { WordMark } from './state-mark.tsx'

const both = inBoth({
  en: {
    chosen: (count: number) =>
      count === 1 ? 'It goes to 1 cluster' : `It goes to ${count} clusters`,
    refused: 'It does not go to',
    more: (count: number) => `and ${count} more`,
    rule: (number: number, count: number) => `Rule ${number}: ${count} clusters`,
    noRules: 'The policy has no rules.',
    term: (name: string) => `chosen by the affinity “${name}”`,
  },
  zh: {
    chosen: (count: number) => `将放置到 ${count} 个集群`,
    refused: '不会放置到',
    more: (count: number) => `还有 ${count} 个`,
    rule: (number: number, count: number) => `规则 ${number}：${count} 个集群`,
    noRules: '该策略没有规则。',
    term: (name: string) => `由亲和性“${name}”选择`,
  },
})

interface PolicyOutcomeProps {
  readonly policy: ExplainedPolicy
  /** Replicas to divide; empty for kinds without. */
  readonly replicas: string
  /** The policy as it would be. If omitted, as it is stored. */
  readonly object?: unknown
}

export function PolicyOutcome({ policy, replicas, object }: PolicyOutcomeProps) {
  const path = previewPath(policy, replicas)
  const { data, error, refetch } = useQuery({
    queryKey: ['preview', path, object],
    queryFn: ({ signal }) =>
      askJson<PolicyPreview>(
        path,
        object === undefined ? { signal } : { method: 'POST', body: object, signal },
      ),
  })
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  return data.placement === undefined ? (
    <Rules rules={data.rules ?? []} />
  ) : (
    <Placement placement={data.placement} />
  )
}

function Placement({ placement }: { readonly placement: PlacementPreview }) {
  const texts = useTexts(both)
  const { reason, message, affinityName, clusters, refused } = placement
  return (
    <div className="outcome">
      <section className="panel">
        <h2 className="wave-head">
          <WordMark tone={reason === 'Success' ? 'ok' : 'bad'}>
            {reason === 'Success' ? texts.chosen(clusters.length) : reason}
          </WordMark>
          {affinityName === undefined ? undefined : (
            <span className="muted">{texts.term(affinityName)}</span>
          )}
        </h2>
        {reason === 'Success' ? undefined : <p>{message}</p>}
        <Names
          names={clusters.map(({ name, replicas }) => [
            name,
            replicas === undefined ? '' : ` × ${replicas}`,
          ])}
        />
      </section>
      {refused.length === 0 ? undefined : (
        <section className="panel">
          <h2>{texts.refused}</h2>
          {refusals(refused).map(([why, names]) => (
            <div key={why}>
              <p className="muted">
                {names.length} × {why}
              </p>
              <Names names={names.map((name) => [name, ''])} />
            </div>
          ))}
        </section>
      )}
    </div>
  )
}

function Rules({ rules }: { readonly rules: NonNullable<PolicyPreview['rules']> }) {
  const texts = useTexts(both)
  if (rules.length === 0) return <p className="panel muted">{texts.noRules}</p>
  return (
    <div className="outcome">
      {rules.map(({ rule, clusters }) => (
        <section key={rule} className="panel">
          <h2>{texts.rule(rule, clusters.length)}</h2>
          <Names names={clusters.map((name) => [name, ''])} />
        </section>
      ))}
    </div>
  )
}

function Names({ names }: { readonly names: readonly (readonly [string, string])[] }) {
  const texts = useTexts(both)
  const shown = names.slice(0, viewLimits.previewClusters)
  return (
    <ul className="cells">
      {shown.map(([name, note]) => (
        <li key={name}>
          <Link href={`/clusters/${encodeURIComponent(name)}`} className="cell-link state-ready">
            <span className="cell-name">{name}</span>
            {note}
          </Link>
        </li>
      ))}
      {names.length > shown.length ? (
        <li className="muted">{texts.more(names.length - shown.length)}</li>
      ) : undefined}
    </ul>
  )
}
