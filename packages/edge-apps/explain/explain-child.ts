import { isStatusError, type KubeObject, type Node } from '@skerry/api'
import { ifThere, resources, type ClusterClient, type TypedResource } from '@skerry/client'
import { controllerOf } from '@skerry/controller-runtime'
import type { App, AppKind, AppWorld } from '../children/app-kind.ts'
import { annotations, childKey, isRefusal, keyOfChild, type Child } from '../children/child.ts'
import type { GroupState } from '../children/child-plan.ts'
import { manifestKinds } from '../children/manifest-kinds-table.ts'
import { edgeSystems } from '../edge-systems-table.ts'
import { specDifferences, type SpecDifference } from './spec-differences.ts'

/** The reasons why a child of an application is as it is. */
export interface ChildExplanation {
  readonly object: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly application: { readonly kind: string; readonly name: string }
  /** The state of the child, as the application's status shows it. */
  readonly state?: GroupState
  /** The fields in which it differs from what all groups have in common. */
  readonly differences: readonly ChildDifference[]
}

export interface ChildDifference extends SpecDifference {
  readonly why: string
}

export interface ChildRef {
  /** A kind or resource in any case, e.g. `deployment` or `deployments.apps`. */
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/**
 * Explains an object that an application in groups of nodes has made. Resolves undefined for any other object, and for one
 * that the caller may not read.
 */
export async function explainChild(
  cluster: ClusterClient,
  ref: ChildRef,
  signal: AbortSignal,
): Promise<ChildExplanation | undefined> {
  const word = ref.kind.toLowerCase()
  const found = manifestKinds.find(({ resource: { kind, resource, group } }) =>
    [kind.toLowerCase(), resource, `${resource}.${group}`].includes(word),
  )
  if (!found) return undefined
  const { namespace, name } = ref
  const child = await readable(
    ifThere(cluster.resource(found.resource).get({ namespace, name }, signal)),
  )
  const owner = child && controllerOf(child)
  if (!child || !owner || child.metadata.annotations?.[annotations.applied] === undefined) {
    return undefined
  }
  return explainers.get(owner.kind)?.({ cluster, child, owner: owner.name }, signal)
}

function readable<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (isStatusError(error, 'Forbidden') || isStatusError(error, 'NotFound')) return undefined
    throw error
  })
}

interface Explaining {
  readonly cluster: ClusterClient
  readonly child: Child
  /** The application's name. */
  readonly owner: string
}

type Explainer = (asked: Explaining, signal: AbortSignal) => Promise<ChildExplanation>

/** Maps the kinds of applications of all systems to what explains their children. */
const explainers: ReadonlyMap<string, Explainer> = new Map(
  Object.values(edgeSystems).flatMap(({ apps }) =>
    apps((kind) => [kind.resource.kind, explainerOf(kind)] as const),
  ),
)

function explainerOf<T extends App>(kind: AppKind<T>): Explainer {
  return async ({ cluster, child, owner }, signal) => {
    const { namespace = '', name = '' } = child.metadata
    const app = await cluster.resource(kind.resource).get({ namespace, name: owner }, signal)
    const world = await worldOf(kind, { cluster, child }, signal)
    const key = keyOfChild(child)
    const state = app.status?.groups?.find((each) => childKey(each.kind ?? '', each.child) === key)
    return {
      object: { kind: child.kind, namespace, name },
      application: { kind: kind.resource.kind, name: owner },
      ...(state ? { state } : {}),
      differences: differencesOf({ kind, app, world, child }),
    }
  }
}

async function worldOf<T extends App>(
  kind: AppKind<T>,
  { cluster, child }: Pick<Explaining, 'cluster' | 'child'>,
  signal: AbortSignal,
): Promise<AppWorld> {
  const listed = new Map<TypedResource<KubeObject>, readonly KubeObject[]>()
  for (const source of kind.sources ?? []) {
    listed.set(source, (await cluster.resource(source).list({}, signal)).items)
  }
  const nodes: readonly Node[] = (await cluster.resource(resources.nodes).list({}, signal)).items
  return {
    nodes,
    owned: [child],
    named: (of, name) => (childKey(of, name) === keyOfChild(child) ? child : undefined),
    // A source is listed under the same reference by which the kind asks for it, with its type of objects.
    objects: <O extends KubeObject>(source: TypedResource<O>) =>
      (listed.get(source as TypedResource<KubeObject>) ?? []) as readonly O[],
  }
}

interface Compared<T extends App> {
  readonly kind: AppKind<T>
  readonly app: T
  readonly world: AppWorld
  readonly child: Child
}

function differencesOf<T extends App>({ kind, app, world, child }: Compared<T>): ChildDifference[] {
  const key = keyOfChild(child)
  const wanted = kind.read(app, world).wanted.find((each) => childKey(each.kind, each.name) === key)
  if (!wanted || isRefusal(wanted.manifest)) return []
  const { spec } = wanted.manifest
  const common = kind.common?.(app, wanted)
  const byGroup = common
    ? specDifferences(common.spec, spec).map((each) => ({
        ...each,
        why: isOfPlace(each.path) ? `the group ${wanted.group}` : common.why,
      }))
    : []
  // The server and others add fields; only those that the application sets can be edits of it.
  const byHand = specDifferences(spec, child.spec)
    .filter(({ from }) => from !== undefined)
    .filter(({ from, to }) => !(to === undefined && isEmpty(from)))
    .map((each) => ({ ...each, why: 'a change of the child itself' }))
  return [...byGroup, ...byHand]
}

/** Pods find their place by these fields, and a workload its own pods. */
function isOfPlace(path: string): boolean {
  return /^(?:selector|template\.metadata\.labels|template\.spec\.(?:nodeSelector|affinity))/.test(
    path,
  )
}

/** Servers leave empty values out. */
function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === '' ||
    value === 0 ||
    value === false ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  )
}
