/** The form of a propagation policy, and the object that it stands for. Pure. */
import type { ExplainedPolicy } from '../../data/fleet/explanation.ts'

export interface PolicyForm {
  readonly name: string
  /** Empty for a policy of the whole fleet. */
  readonly namespace: string
  /** Kinds as `apps/v1/Deployment` or `v1/ConfigMap`, separated by commas. */
  readonly kinds: string
  /** The name of the one object; empty for all of the kinds. */
  readonly objectName: string
  /** Labels of objects, as `app=web,tier=front`. */
  readonly objectLabels: string
  readonly clusterNames: string
  readonly clusterLabels: string
  readonly exclude: string
  readonly division: 'Duplicated' | 'Divided' | 'Aggregated'
  readonly waves: string
  readonly percent: string
}

export const emptyForm: PolicyForm = {
  name: '',
  namespace: 'default',
  kinds: 'apps/v1/Deployment',
  objectName: '',
  objectLabels: '',
  clusterNames: '',
  clusterLabels: '',
  exclude: '',
  division: 'Duplicated',
  waves: '',
  percent: '',
}

export function namedPolicy({ name, namespace }: PolicyForm): ExplainedPolicy {
  return namespace === ''
    ? { kind: 'ClusterPropagationPolicy', name }
    : { kind: 'PropagationPolicy', namespace, name }
}

/** Empty fields stand for no restriction, and are left out. */
export function policyOf(form: PolicyForm): Readonly<Record<string, unknown>> {
  const { kind, namespace, name } = namedPolicy(form)
  const annotations = known({
    'hub.skerry.io/waves': form.waves.trim(),
    'hub.skerry.io/wave-healthy-percent': form.percent.trim(),
  })
  const matchLabels = labelsOf(form.objectLabels)
  const selector = known({ name: form.objectName.trim() })
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      resourceSelectors: listOf(form.kinds).map((text) => ({
        ...kindOf(text),
        ...selector,
        ...(matchLabels === undefined ? {} : { labelSelector: { matchLabels } }),
      })),
      placement: placementOf(form),
    },
  }
}

function placementOf(form: PolicyForm): Readonly<Record<string, unknown>> {
  const [clusterNames, exclude] = [listOf(form.clusterNames), listOf(form.exclude)]
  const matchLabels = labelsOf(form.clusterLabels)
  const affinity = {
    ...(clusterNames.length === 0 ? {} : { clusterNames }),
    ...(exclude.length === 0 ? {} : { exclude }),
    ...(matchLabels === undefined ? {} : { labelSelector: { matchLabels } }),
  }
  return {
    ...(Object.keys(affinity).length === 0 ? {} : { clusterAffinity: affinity }),
    ...(form.division === 'Duplicated' ? {} : { replicaScheduling: divisions[form.division] }),
  }
}

const divisions = {
  Divided: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { dynamicWeight: 'AvailableReplicas' },
  },
  Aggregated: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' },
} as const

/** The kind stands behind the last slash. */
function kindOf(text: string): { readonly apiVersion: string; readonly kind: string } {
  const at = text.lastIndexOf('/')
  return { apiVersion: text.slice(0, Math.max(0, at)), kind: text.slice(at + 1) }
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

/** A label without a value has an empty one. */
function labelsOf(text: string): Readonly<Record<string, string>> | undefined {
  const entries = listOf(text).map((label): [string, string] => {
    const at = label.indexOf('=')
    return at < 0 ? [label, ''] : [label.slice(0, at), label.slice(at + 1)]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function known(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}
