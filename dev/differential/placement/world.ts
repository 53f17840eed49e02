import { parse } from 'yaml'
import type { Cluster, ClusterSpec, ResourceSummary } from '@skerry/fleet-kinds'
import type { ResourceBinding } from '@skerry/karmada-kinds'

/** Some clusters, and bindings that are placed on them independently. */
export interface World {
  readonly name: string
  readonly clusters: readonly Cluster[]
  readonly bindings: readonly ResourceBinding[]
}

/** A cluster as written in a world; README.md explains the short forms. */
export interface WrittenCluster extends Partial<ClusterSpec>, ResourceSummary {
  readonly labels?: Record<string, string>
  readonly annotations?: Record<string, string>
  /** The kinds of apps/v1 that the cluster serves. */
  readonly kinds?: readonly string[]
  /** The number of nodes of each grade. */
  readonly nodes?: Readonly<Record<string, number>>
  readonly deleting?: boolean
  /** Whether it reports no resources. */
  readonly silent?: boolean
}

export interface WrittenBinding extends Partial<ResourceBinding['spec']> {
  readonly kind?: string
  readonly uid?: string
  readonly namespace?: string
  readonly affinityName?: string
  readonly lastScheduledTime?: string
}

export interface WrittenWorld {
  readonly clusters: Readonly<Record<string, WrittenCluster>>
  readonly bindings: Readonly<Record<string, WrittenBinding>>
}

/** Served in addition to all other kinds: a scheduler that knows this kind shows that it has seen the cluster. */
export const lookoutKind = Object.freeze({ apiVersion: 'v1', kind: 'Lookout' })

export function parseWorld(name: string, text: string): World {
  // Worlds are written by hand or by dev/hack/karmada-placement.ts, and have this type.
  const { clusters, bindings } = parse(text) as WrittenWorld
  return {
    name,
    clusters: Object.entries(clusters).map(([each, written]) => clusterOf(each, written)),
    bindings: Object.entries(bindings).map(([each, written]) => bindingOf(each, written)),
  }
}

function clusterOf(name: string, written: WrittenCluster): Cluster {
  const { labels, annotations, kinds, nodes, deleting, silent, ...rest } = written
  const { allocatable, allocated, allocating, ...spec } = rest
  const allocatableModelings = Object.entries(nodes ?? {}).map(([grade, count]) => ({
    grade: Number(grade),
    count,
  }))
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: {
      name,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { syncMode: 'Pull', ...spec },
    status: {
      apiEnablements: [
        served('apps/v1', kinds ?? ['Deployment']),
        served('v1', ['ConfigMap', lookoutKind.kind]),
      ],
      ...(silent
        ? {}
        : {
            resourceSummary: {
              allocatable: textsOf({ pods: '100', ...allocatable }),
              ...(allocated ? { allocated: textsOf(allocated) } : {}),
              ...(allocating ? { allocating: textsOf(allocating) } : {}),
              ...(nodes ? { allocatableModelings } : {}),
            },
          }),
    },
  }
}

function served(groupVersion: string, kinds: readonly string[]) {
  return {
    groupVersion,
    resources: kinds.map((kind) => ({ name: `${kind.toLowerCase()}s`, kind })),
  }
}

/** Returns the quantities as text: YAML reads `cpu: 2` as a number. */
function textsOf(quantities: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(quantities).map(([name, each]) => [name, String(each)]))
}

function bindingOf(name: string, written: WrittenBinding): ResourceBinding {
  const { kind = 'Deployment', uid, namespace = 'default', ...rest } = written
  const { affinityName, lastScheduledTime, ...spec } = rest
  const apiVersion = kind === 'ConfigMap' ? 'v1' : 'apps/v1'
  const status = {
    ...(affinityName ? { schedulerObservingAffinityName: affinityName } : {}),
    ...(lastScheduledTime ? { lastScheduledTime } : {}),
  }
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: `${name}-${kind}`.toLowerCase(), namespace },
    spec: {
      resource: { apiVersion, kind, namespace, name, uid: uid ?? name },
      ...spec,
      placement: spec.placement ?? {},
    },
    status,
  }
}
