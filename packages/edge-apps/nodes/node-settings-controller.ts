import { RecentMap } from '@skerry/base'
import { equalJson, StatusError, type KubeObject, type Node } from '@skerry/api'
import {
  ifThere,
  resources,
  type Change,
  type IndexFunctions,
  type KnownResource,
} from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { appliedBy } from '../children/app-controller.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import { planNode, remembered, type NodeSettings } from './node-settings.ts'

const { toldMax } = edgeAppsBounds.nodeSettingsController

/** An object that stands for a set of nodes. */
export interface NodeSet extends KubeObject {
  readonly spec?: object
  readonly status?: object
}

/** A kind whose objects set labels, annotations and taints of the nodes in them. */
export interface SettingKind<T extends NodeSet> {
  readonly resource: KnownResource<T>
  /** The annotation of a node in which the settings of its sets are remembered. */
  readonly remembersIn: string
  /** Returns true if the state of the node matters to the set. */
  readonly concerns: (set: T, node: Node) => boolean
  /** Returns everything that these sets together set on the node. */
  readonly settings: (node: Node, sets: readonly T[]) => NodeSettings
}

/** Returns the controller that gives each node what its sets set, and takes it back. */
export function nodeSettingsController<T extends NodeSet>(
  name: string,
  kind: SettingKind<T>,
): ControllerDefinition {
  const told: Told = new RecentMap(toldMax)
  return {
    name,
    watches: [
      watch(resources.nodes, { keysOf: nodesOfNode, indexes: bySet(kind) }),
      watch(kind.resource, { keysOf: (change, context) => nodesOfSet(kind, change, context) }),
    ],
    reconcile: (node, context, signal) => settle({ kind, told, name: node }, context, signal),
  }
}

/** Indexes nodes by the sets whose settings they have. The index has the name of the annotation. */
export function bySet({ remembersIn }: { readonly remembersIn: string }): IndexFunctions<Node> {
  return { [remembersIn]: (node) => remembered(node, remembersIn).units }
}

/** Nodes write their status all the time; only what can be set matters. */
function nodesOfNode({ object, old, type }: Change<Node>): string[] {
  const settable = ({ metadata: { labels, annotations }, spec }: Node): unknown => [
    labels ?? {},
    annotations ?? {},
    spec ?? {},
  ]
  if (type === 'deleted') return []
  return old && equalJson(settable(old), settable(object)) ? [] : namesOf([object])
}

function nodesOfSet<T extends NodeSet>(
  kind: SettingKind<T>,
  { object, old }: Change<T>,
  context: ControllerContext,
): string[] {
  const seen = ({ spec, metadata: { labels, deletionTimestamp } }: T): unknown => [
    spec ?? {},
    labels ?? {},
    deletionTimestamp === undefined,
  ]
  if (old && equalJson(seen(old), seen(object))) return []
  const nodes = context.informer(resources.nodes)
  const concerned = nodes
    .list()
    .filter((node) => kind.concerns(object, node) || (old && kind.concerns(old, node)))
  const having = nodes.byIndex(kind.remembersIn, object.metadata.name ?? '')
  return [...new Set(namesOf([...concerned, ...having]))]
}

export function namesOf(objects: readonly KubeObject[]): string[] {
  return objects.map(({ metadata }) => metadata.name ?? '')
}

/** The sets whose nodes have refused their settings, by uid and generation. */
type Told = RecentMap<string, true>

interface Settling<T extends NodeSet> {
  readonly kind: SettingKind<T>
  readonly told: Told
  /** The node. */
  readonly name: string
}

async function settle<T extends NodeSet>(
  { kind, told, name }: Settling<T>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const node = context.informer(resources.nodes).get({ name })
  if (!node) return
  const settings = kind.settings(node, context.informer(kind.resource).list())
  const planned = planNode(node, settings, kind.remembersIn)
  if (!planned) return
  // Taints are replaced as a list, so that the node must not have changed meanwhile.
  const { resourceVersion } = node.metadata
  const patch = { ...planned, metadata: { ...planned.metadata, resourceVersion } }
  const request = { name, type: 'merge', patch, fieldManager: appliedBy } as const
  try {
    await ifThere(context.client(resources.nodes).patch(request, signal))
  } catch (error) {
    // The node refuses the same settings again; a change of a set leads to another look.
    if (!(error instanceof StatusError) || error.reason !== 'Invalid') throw error
    const sets = context.informer(kind.resource).list()
    const setting = sets.filter((set) => settings.units.includes(set.metadata.name ?? ''))
    tellRefused({ sets: setting, told, why: error.message }, context)
  }
}

function tellRefused<T extends NodeSet>(
  refused: { readonly sets: readonly T[]; readonly told: Told; readonly why: string },
  { events }: ControllerContext,
): void {
  const { sets, told, why } = refused
  for (const set of sets) {
    const key = `${set.metadata.uid}/${set.metadata.generation}`
    if (told.get(key)) continue
    told.set(key, true)
    const message = `Cannot give a node the settings of ${namesOf(sets).join(', ')}: ${why}`
    events.event(set, { type: 'Warning', reason: 'SettingsRefused', message })
  }
}
