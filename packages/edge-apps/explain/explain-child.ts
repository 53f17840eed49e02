import { isStatusError } from '@skerry/api'
import { ifThere, type ClusterClient } from '@skerry/client'
import { controllerOf } from '@skerry/controller-runtime'
import type { App, AppKind } from '../children/app-kind.ts'
import { annotations, childKey, keyOfChild, type Child } from '../children/child.ts'
import type { GroupState } from '../children/child-plan.ts'
import { manifestKinds } from '../children/manifest-kinds-table.ts'
import { edgeSystems } from '../edge-systems-table.ts'
import { childDifferences, type ChildDifference } from './child-differences.ts'
import { readWorld } from './read-world.ts'

/** The reasons why a child of an application is as it is. */
export interface ChildExplanation {
  readonly object: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly application: { readonly kind: string; readonly name: string }
  /** The state of the child, as the application's status shows it. */
  readonly state?: GroupState
  /** The fields in which it differs from what all groups have in common. */
  readonly differences: readonly ChildDifference[]
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
    const world = (await readWorld(cluster, kind, signal))([child])
    const key = keyOfChild(child)
    const state = app.status?.groups?.find((each) => childKey(each.kind ?? '', each.child) === key)
    return {
      object: { kind: child.kind, namespace, name },
      application: { kind: kind.resource.kind, name: owner },
      ...(state ? { state } : {}),
      differences: childDifferences({ kind, app, wanted: kind.read(app, world).wanted, child }),
    }
  }
}
