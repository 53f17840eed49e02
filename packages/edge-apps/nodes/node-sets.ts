import { equalJson, type Node } from '@skerry/api'
import { ifThere, resources, type Change } from '@skerry/client'
import {
  addFinalizer,
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { appliedBy } from '../children/app-controller.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import {
  bySet,
  namesOf,
  nodeSettingsController,
  type NodeSet,
  type SettingKind,
} from './node-settings-controller.ts'
import { remembered } from './node-settings.ts'

const { nodeDelayMs } = edgeAppsBounds.appController

/** A kind whose objects are sets of nodes that report the nodes they have. */
export interface NodeSetKind<T extends NodeSet> extends SettingKind<T> {
  /** The name of its controller. */
  readonly name: string
  /** If omitted, a set goes at once; its nodes lose its settings all the same. */
  readonly finalizer?: string
  readonly status: (set: T, nodes: readonly Node[], sets: readonly T[]) => object
}

/** Returns the controllers of a kind: one gives nodes the settings of their set and takes them back, one reports. */
export function nodeSetControllers<T extends NodeSet>(
  kind: NodeSetKind<T>,
): readonly ControllerDefinition[] {
  return [
    nodeSettingsController(`${kind.name}-settings`, kind),
    {
      name: kind.name,
      watches: [
        watch(kind.resource, {
          keysOf: (_change, context) => namesOf(context.informer(kind.resource).list()),
        }),
        watch(resources.nodes, {
          keysOf: (change, context) => setsOfNode(kind, change, context),
          indexes: bySet(kind),
          delayMs: nodeDelayMs,
        }),
      ],
      reconcile: (name, context, signal) => report({ kind, name }, context, signal),
    },
  ]
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

async function report<T extends NodeSet>(
  { kind, name }: { readonly kind: NodeSetKind<T>; readonly name: string },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { resource, finalizer } = kind
  const informer = context.informer(resource)
  const set = informer.get({ name })
  if (!set) return
  const nodes = context.informer(resources.nodes)
  const { deletionTimestamp, finalizers = [] } = set.metadata
  if (deletionTimestamp !== undefined) {
    // The last node that loses its settings leads to the next look.
    if (finalizer === undefined || nodes.byIndex(kind.remembersIn, name).length > 0) return
    return dropFinalizer({ object: set, resource, finalizer }, context, signal)
  }
  if (finalizer !== undefined && !finalizers.includes(finalizer)) {
    const added = { object: set, resource, finalizer, fieldManager: appliedBy }
    // The write leads to the next look.
    return addFinalizer(added, context, signal)
  }
  const status = kind.status(set, nodes.list(), informer.list())
  if (equalJson(set.status ?? {}, status)) return
  await ifThere(context.client(resource).updateStatus({ ...set, status }, signal))
}
