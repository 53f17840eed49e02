import { equalJson, type KubeObject, type Node } from '@skerry/api'
import { ifThere, resources, type Change, type KnownResource } from '@skerry/client'
import {
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { appliedBy } from '../children/app-controller.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import { planNode, remembered, type NodeSettings } from './node-settings.ts'

const { nodeDelayMs } = edgeAppsBounds.appController

export interface NodeSet extends KubeObject {
  readonly spec?: object
  readonly status?: object
}

/** A kind whose objects are sets of nodes, where a node is in one at most. */
export interface NodeSetKind<T extends NodeSet> {
  /** The name of its controller. */
  readonly name: string
  readonly resource: KnownResource<T>
  /** The annotation of a node in which the settings of its set are remembered. */
  readonly remembersIn: string
  /** If omitted, a set goes at once; its nodes lose its settings all the same. */
  readonly finalizer?: string
  /** Returns true if the state of the node matters to the set. */
  readonly concerns: (set: T, node: Node) => boolean
  readonly setOf: (node: Node, sets: readonly T[]) => T | undefined
  readonly settings: (set: T | undefined) => NodeSettings
  readonly status: (set: T, nodes: readonly Node[], sets: readonly T[]) => object
}

/** Returns the controllers of a kind: one gives nodes the settings of their set and takes them back, one reports. */
export function nodeSetControllers<T extends NodeSet>(
  kind: NodeSetKind<T>,
): readonly ControllerDefinition[] {
  const index = (node: Node): readonly string[] => remembered(node, kind.remembersIn).units
  const indexes = { [kind.remembersIn]: index }
  return [
    {
      name: `${kind.name}-settings`,
      watches: [
        watch(resources.nodes, { keysOf: nodesOfNode, indexes }),
        watch(kind.resource, { keysOf: (change, context) => nodesOfSet(kind, change, context) }),
      ],
      reconcile: (name, context, signal) => settle({ kind, name }, context, signal),
    },
    {
      name: kind.name,
      watches: [
        watch(kind.resource, {
          keysOf: (_change, context) => namesOf(context.informer(kind.resource).list()),
        }),
        watch(resources.nodes, {
          keysOf: (change, context) => setsOfNode(kind, change, context),
          indexes,
          delayMs: nodeDelayMs,
        }),
      ],
      reconcile: (name, context, signal) => report({ kind, name }, context, signal),
    },
  ]
}

function namesOf(objects: readonly KubeObject[]): string[] {
  return objects.map(({ metadata }) => metadata.name ?? '')
}

function nodesOfNode({ object, old, type }: Change<Node>): string[] {
  return type === 'deleted' || (old && isSame(old, object)) ? [] : namesOf([object])
}

/** Nodes write their status all the time; only settings and whether they are ready matter. */
function isSame(old: Node, node: Node): boolean {
  const seen = ({ metadata: { labels, annotations }, spec, status }: Node): unknown => [
    labels ?? {},
    annotations ?? {},
    spec ?? {},
    status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? '',
  ]
  return equalJson(seen(old), seen(node))
}

function nodesOfSet<T extends NodeSet>(
  kind: NodeSetKind<T>,
  { object, old }: Change<T>,
  context: ControllerContext,
): string[] {
  const { deletionTimestamp, name = '' } = object.metadata
  const isUnchanged =
    old && equalJson(old.spec, object.spec) && old.metadata.deletionTimestamp === deletionTimestamp
  if (isUnchanged) return []
  const nodes = context.informer(resources.nodes)
  const wanted = nodes
    .list()
    .filter((node) => kind.concerns(object, node) || (old && kind.concerns(old, node)))
  return [...new Set(namesOf([...wanted, ...nodes.byIndex(kind.remembersIn, name)]))]
}

function setsOfNode<T extends NodeSet>(
  kind: NodeSetKind<T>,
  { object, old }: Change<Node>,
  context: ControllerContext,
): string[] {
  if (old && isSame(old, object)) return []
  const both = old ? [object, old] : [object]
  const sets = context.informer(kind.resource).list()
  const concerned = sets.filter((set) => both.some((node) => kind.concerns(set, node)))
  const known = both.flatMap((node) => remembered(node, kind.remembersIn).units)
  return [...new Set([...namesOf(concerned), ...known])]
}

interface Look<T extends NodeSet> {
  readonly kind: NodeSetKind<T>
  readonly name: string
}

async function settle<T extends NodeSet>(
  { kind, name }: Look<T>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const node = context.informer(resources.nodes).get({ name })
  if (!node) return
  const set = kind.setOf(node, context.informer(kind.resource).list())
  const planned = planNode(node, kind.settings(set), kind.remembersIn)
  if (!planned) return
  // Taints are replaced as a list, so that the node must not have changed meanwhile.
  const { resourceVersion } = node.metadata
  const patch = { ...planned, metadata: { ...planned.metadata, resourceVersion } }
  const request = { name, type: 'merge', patch, fieldManager: appliedBy } as const
  await ifThere(context.client(resources.nodes).patch(request, signal))
}

async function report<T extends NodeSet>(
  { kind, name }: Look<T>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { resource, finalizer } = kind
  const informer = context.informer(resource)
  const set = informer.get({ name })
  if (!set) return
  const nodes = context.informer(resources.nodes)
  const { deletionTimestamp, finalizers = [], resourceVersion } = set.metadata
  if (deletionTimestamp !== undefined) {
    // The last node that loses its settings leads to the next look.
    if (finalizer === undefined || nodes.byIndex(kind.remembersIn, name).length > 0) return
    return dropFinalizer({ object: set, resource, finalizer }, context, signal)
  }
  if (finalizer !== undefined && !finalizers.includes(finalizer)) {
    const metadata = { finalizers: [...finalizers, finalizer], resourceVersion }
    const request = { name, type: 'merge', patch: { metadata }, fieldManager: appliedBy } as const
    // The write leads to the next look.
    return void (await ifThere(context.client(resource).patch(request, signal)))
  }
  const status = kind.status(set, nodes.list(), informer.list())
  if (equalJson(set.status ?? {}, status)) return
  await ifThere(context.client(resource).updateStatus({ ...set, status }, signal))
}
