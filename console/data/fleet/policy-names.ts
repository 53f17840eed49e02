/** Policies of the fleet: their addresses, and the objects that one of them has claimed. Pure. */
import type { ObjectName, ResourceName } from '../hub/api-paths.ts'
import type { ExplainedPolicy } from './explanation.ts'

const policies = { group: 'policy.karmada.io', version: 'v1alpha1' }

export const policyKinds = {
  PropagationPolicy: { ...policies, resource: 'propagationpolicies', isNamespaced: true },
  ClusterPropagationPolicy: {
    ...policies,
    resource: 'clusterpropagationpolicies',
    isNamespaced: false,
  },
  OverridePolicy: { ...policies, resource: 'overridepolicies', isNamespaced: true },
  ClusterOverridePolicy: { ...policies, resource: 'clusteroverridepolicies', isNamespaced: false },
} as const satisfies Readonly<Record<string, ResourceName & { isNamespaced: boolean }>>

export type PolicyKind = keyof typeof policyKinds

export function isPolicyKind(text: string | undefined): text is PolicyKind {
  return text !== undefined && Object.hasOwn(policyKinds, text)
}

export function policyObject({ kind, namespace, name }: ExplainedPolicy): ObjectName | undefined {
  if (!isPolicyKind(kind)) return undefined
  const { isNamespaced, ...resource } = policyKinds[kind]
  return { ...resource, name, ...(isNamespaced && namespace !== undefined ? { namespace } : {}) }
}

export function policyPage({ kind, namespace = '', name }: ExplainedPolicy): string {
  return `/policies/${[kind, namespace || '-', name].map(encodeURIComponent).join('/')}`
}

interface Claimed {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
}

/** Reads the policy that has claimed an object, from the claim that its binding has, too. */
export function claimant({ metadata }: Claimed): ExplainedPolicy | undefined {
  const { annotations = {} } = metadata ?? {}
  const name = annotations['propagationpolicy.karmada.io/name']
  const namespace = annotations['propagationpolicy.karmada.io/namespace']
  if (name !== undefined && namespace !== undefined) {
    return { kind: 'PropagationPolicy', namespace, name }
  }
  const wide = annotations['clusterpropagationpolicy.karmada.io/name']
  return wide === undefined ? undefined : { kind: 'ClusterPropagationPolicy', name: wide }
}

/** The label of all objects and bindings that a policy has claimed; its value is the policy's own. */
export function claimLabel(kind: string): string {
  return `${kind.toLowerCase()}.karmada.io/permanent-id`
}
