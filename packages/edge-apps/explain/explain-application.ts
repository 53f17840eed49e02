import { isJsonObject, isStatusError } from '@skerry/api'
import type { ClusterClient, KnownResource } from '@skerry/client'
import { controllerOf } from '@skerry/controller-runtime'
import type { App, AppKind, AppReading } from '../children/app-kind.ts'
import {
  childKey,
  isRefusal,
  keyOfChild,
  type Child,
  type Refusal,
  type WantedChild,
} from '../children/child.ts'
import { manifestKinds } from '../children/manifest-kinds-table.ts'
import { edgeSystems } from '../edge-systems-table.ts'
import { childDifferences, type ChildDifference } from './child-differences.ts'
import { readWorld } from './read-world.ts'

/** The children of an application, by group: what each of them differs by, and how far its pods are. */
export interface ApplicationExplanation {
  readonly application: {
    readonly kind: string
    readonly namespace: string
    readonly name: string
  }
  /** A fault that a person must put right before anything is written. */
  readonly problem?: Refusal
  readonly children: readonly ExplainedChild[]
  /** Refusals of the server: the children of these kinds are compared with nothing. */
  readonly unread: readonly string[]
}

export interface ExplainedChild {
  /** Empty for an object that an application has once. */
  readonly group: string
  readonly kind: string
  readonly name: string
  /** The labels of its pods, if it has any. */
  readonly podLabels?: Readonly<Record<string, string>>
  readonly replicas?: number
  readonly readyReplicas?: number
  readonly differences: readonly ChildDifference[]
}

export interface ApplicationRef {
  /** The kind's own word, e.g. `DeploymentGrid`. */
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/**
 * Explains an application in groups of nodes. Resolves undefined for any other kind, and rejects with the answer of a
 * server that refuses the application, the nodes or the groups.
 */
export async function explainApplication(
  cluster: ClusterClient,
  ref: ApplicationRef,
  signal: AbortSignal,
): Promise<ApplicationExplanation | undefined> {
  return explainers.get(ref.kind)?.(cluster, ref, signal)
}

type Explainer = (
  cluster: ClusterClient,
  ref: ApplicationRef,
  signal: AbortSignal,
) => Promise<ApplicationExplanation>

const explainers: ReadonlyMap<string, Explainer> = new Map(
  Object.values(edgeSystems).flatMap(({ apps }) =>
    apps((kind) => [kind.resource.kind, explainerOf(kind)] as const),
  ),
)

function explainerOf<T extends App>(kind: AppKind<T>): Explainer {
  return async (cluster, { namespace, name }, signal) => {
    const app = await cluster.resource(kind.resource).get({ namespace, name }, signal)
    const worldOf = await readWorld(cluster, kind, signal)
    // The kinds of the children that the application asks for are known before any of these is read.
    const asked = kind.read(app, worldOf([])).wanted
    const { owned, unread } = await ownedBy(app, { cluster, kind, asked }, signal)
    const { problem, wanted } = kind.read(app, worldOf(owned))
    return {
      application: { kind: kind.resource.kind, namespace, name },
      ...(problem ? { problem } : {}),
      children: wanted
        .filter(({ kind: of }) => of !== 'ControllerRevision')
        .map((each) => explained(each, { kind, app, wanted, owned })),
      unread,
    }
  }
}

/** Kinds without a spec have nothing to compare, and Secrets are nobody's business here. */
const withoutSpec: ReadonlySet<string> = new Set([
  'ConfigMap',
  'ControllerRevision',
  'Secret',
  'ServiceAccount',
])

interface Asked<T extends App> {
  readonly cluster: ClusterClient
  readonly kind: AppKind<T>
  readonly asked: AppReading['wanted']
}

async function ownedBy<T extends App>(
  app: T,
  { cluster, kind, asked }: Asked<T>,
  signal: AbortSignal,
): Promise<{ owned: Child[]; unread: string[] }> {
  const kinds = new Set(asked.map(({ kind: of }) => of))
  const owned: Child[] = []
  const unread: string[] = []
  for (const resource of kind.children) {
    if (!kinds.has(resource.kind) || withoutSpec.has(resource.kind)) continue
    try {
      owned.push(...(await ownedOfKind(app, { cluster, resource }, signal)))
    } catch (error) {
      if (!isStatusError(error, 'Forbidden')) throw error
      unread.push(error.message)
    }
  }
  return { owned, unread }
}

/** Items of a list do not say of which kind they are. */
async function ownedOfKind(
  { metadata: { namespace = '', uid } }: App,
  { cluster, resource }: { cluster: ClusterClient; resource: KnownResource<Child> },
  signal: AbortSignal,
): Promise<Child[]> {
  const { items } = await cluster.resource(resource).list({ namespace }, signal)
  return items
    .filter((item) => controllerOf(item)?.uid === uid)
    .map((item) => ({ ...item, kind: resource.kind }))
}

interface View<T extends App> {
  readonly kind: AppKind<T>
  readonly app: T
  readonly wanted: AppReading['wanted']
  readonly owned: readonly Child[]
}

function explained<T extends App>(
  { group, kind: of, name, manifest }: WantedChild,
  { owned, ...view }: View<T>,
): ExplainedChild {
  const key = childKey(of, name)
  const child = owned.find((each) => keyOfChild(each) === key)
  const podLabels = isRefusal(manifest) ? undefined : podLabelsOf(manifest)
  return {
    group,
    kind: of,
    name,
    ...(podLabels === undefined ? {} : { podLabels }),
    ...(child ? replicasOf(child) : {}),
    differences: child ? childDifferences({ ...view, child }) : [],
  }
}

function podLabelsOf(manifest: Child): Record<string, string> | undefined {
  const path = manifestKinds.find(({ resource }) => resource.kind === manifest.kind)?.podTemplate
  let at: unknown = path && manifest
  for (const field of [...(path ?? []), 'metadata', 'labels']) {
    at = isJsonObject(at) ? at[field] : undefined
  }
  if (!isJsonObject(at)) return undefined
  return Object.fromEntries(Object.entries(at).map(([key, value]) => [key, String(value)]))
}

/** Servers leave a number out that is 0. */
function replicasOf({ kind, spec = {}, status = {} }: Child): {
  replicas?: number
  readyReplicas?: number
} {
  if (kind === 'DaemonSet') {
    const { desiredNumberScheduled, numberReady } = status
    return { replicas: numberOf(desiredNumberScheduled), readyReplicas: numberOf(numberReady) }
  }
  if (kind !== 'Deployment' && kind !== 'StatefulSet') return {}
  const replicas = numberOf(spec['replicas'], 1)
  return { replicas, readyReplicas: numberOf(status['readyReplicas']) }
}

function numberOf(value: unknown, missing = 0): number {
  return typeof value === 'number' ? value : missing
}
