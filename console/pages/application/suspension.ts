/** Suspends and resumes dispatching by the policy that has claimed an object: patches, and lines for a shell. Pure. */
import type { ExplainedPolicy } from '../../data/fleet/explanation.ts'
import { policyKinds } from '../../data/fleet/policy-names.ts'
import { kubectlOf } from '../../data/objects/object-commands.ts'

/** A propagation policy, as far as it is shown. */
export interface Policy {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly suspension?: {
      readonly dispatching?: boolean
      readonly dispatchingOnClusters?: { readonly clusterNames?: readonly string[] }
    }
  }
}

/** A merge patch of the policy. */
export interface PolicyPatch {
  readonly metadata?: {
    readonly resourceVersion?: string
    readonly annotations?: Readonly<Record<string, string | null>>
  }
  readonly spec?: unknown
}

/** Without the value, a policy dispatches; so resuming removes it. */
export function suspendPatch(isSuspended: boolean): PolicyPatch {
  return { spec: { suspension: { dispatching: isSuspended ? true : null } } }
}

export function suspendedClusters({ spec }: Policy): readonly string[] {
  return spec.suspension?.dispatchingOnClusters?.clusterNames ?? []
}

/** A merge patch replaces a list as a whole: the revision makes sure that nobody else's change of it is lost. */
export function suspendOnPatch(policy: Policy, cluster: string, isSuspended: boolean): PolicyPatch {
  const others = suspendedClusters(policy).filter((name) => name !== cluster)
  const clusterNames = isSuspended ? [...others, cluster] : others
  const { resourceVersion } = policy.metadata
  return {
    ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }),
    spec: {
      suspension: {
        dispatchingOnClusters: clusterNames.length === 0 ? null : { clusterNames },
      },
    },
  }
}

const wavesKey = 'hub.skerry.io/waves'
const percentKey = 'hub.skerry.io/wave-healthy-percent'

export interface WavesForm {
  readonly waves: string
  readonly percent: string
}

export function wavesForm({ metadata: { annotations = {} } }: Policy): WavesForm {
  return { waves: annotations[wavesKey] ?? '', percent: annotations[percentKey] ?? '' }
}

/** An empty field removes its annotation: without waves, all clusters get a change at once. */
export function wavesPatch({ waves, percent }: WavesForm): PolicyPatch {
  return {
    metadata: {
      annotations: { [wavesKey]: waves.trim() || null, [percentKey]: percent.trim() || null },
    },
  }
}

/** The same patch for a shell. A quote in it would end the argument, and is written so that it does not. */
export function kubectlPatch(policy: ExplainedPolicy, { metadata, spec }: PolicyPatch): string {
  const { kind, namespace, name } = policy
  const resource = kind in policyKinds ? kind.toLowerCase() : kind
  const annotations = metadata?.annotations
  const patch = {
    ...(annotations === undefined ? {} : { metadata: { annotations } }),
    ...(spec === undefined ? {} : { spec }),
  }
  const kubectl = kubectlOf(undefined, namespace === undefined ? {} : { namespace })
  const text = JSON.stringify(patch).replaceAll("'", String.raw`'\''`)
  return `${kubectl} patch ${resource} ${name} --type merge -p '${text}'`
}
