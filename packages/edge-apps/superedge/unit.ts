import type { KubeObject, LabelSelectorFields, Node, Taint } from '@skerry/api'
import type { KnownResource } from '@skerry/client'
import { memberTest } from '../groups/group-members.ts'

/** A condition without times: it says what is so now. */
export interface UnitCondition {
  readonly type: string
  readonly status: 'True'
  readonly reason: string
  readonly message: string
}

/** SuperEdge's report of a unit that is, or shall be, a cluster of its own. */
export interface UnitClusterStatus {
  /** The version that its own control plane serves. */
  readonly version?: string
  readonly phase: string
  readonly addresses?: readonly {
    readonly type: string
    readonly host: string
    readonly port: number
    readonly path: string
  }[]
  readonly conditions: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
  }[]
  readonly resource: {
    readonly capacity: Readonly<Record<string, string>>
    readonly allocatable: Readonly<Record<string, string>>
  }
}

interface SetNode {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
}

export interface NodeUnit extends KubeObject {
  readonly spec?: {
    readonly type?: string
    readonly unschedulable?: boolean
    readonly autonomyLevel?: string
    readonly nodes?: readonly string[]
    readonly selector?: LabelSelectorFields
    readonly setNode?: SetNode
    /** The same in v1alpha1. */
    readonly setnode?: SetNode
  }
  readonly status?: {
    readonly readyRate?: string
    readonly readyNodes?: readonly string[]
    readonly notReadyNodes?: readonly string[]
    readonly unitClusterStatus?: UnitClusterStatus
    readonly conditions?: readonly UnitCondition[]
  }
}

export interface NodeGroup extends KubeObject {
  readonly spec?: {
    readonly nodeUnits?: readonly string[]
    readonly selector?: LabelSelectorFields
    readonly autoFindNodeKeys?: readonly string[]
    /** The same in v1alpha1. */
    readonly nodeunits?: readonly string[]
    readonly autofindnodekeys?: readonly string[]
  }
  readonly status?: {
    readonly unitNumber?: number
    readonly nodeUnits?: readonly string[]
    readonly conditions?: readonly UnitCondition[]
  }
}

const group = 'site.superedge.io'
const version = 'v1alpha2'

export const nodeUnits: KnownResource<NodeUnit> = Object.freeze({
  group,
  version,
  resource: 'nodeunits',
  kind: 'NodeUnit',
  isNamespaced: false,
})

export const nodeGroups: KnownResource<NodeGroup> = Object.freeze({
  group,
  version,
  resource: 'nodegroups',
  kind: 'NodeGroup',
  isNamespaced: false,
})

/** SuperEdge's words on nodes and units. */
export const unitWords = Object.freeze({
  /** The value of the label on a node whose key is the name of a unit. */
  member: 'nodeunits.superedge.io',
  /** The value of the label on a unit whose key is the name of a group. */
  grouped: 'nodegroups.superedge.io',
  unitFinalizer: 'site.superedge.io/nodeunit',
  groupFinalizer: 'site.superedge.io/finalizer',
  foundBy: 'site.superedge.io/node-group-auto-keys-hash',
  /** The type of units that a group makes. */
  foundType: 'unit-node-edge',
  /** An annotation of a unit, by which a person says in which generation its server was destroyed. */
  lostGeneration: 'edge.skerry.io/lost-generation',
})

/** Returns the settings that a unit has for its nodes. */
export function setNodeOf({ spec }: NodeUnit): SetNode {
  return spec?.setNode ?? spec?.setnode ?? {}
}

/** Returns the units that a group names. */
export function unitsNamedBy({ spec }: NodeGroup): readonly string[] {
  return spec?.nodeUnits ?? spec?.nodeunits ?? []
}

/** Returns the keys of nodes' labels by whose values a group makes units. */
export function foundKeysOf({ spec }: NodeGroup): readonly string[] {
  return spec?.autoFindNodeKeys ?? spec?.autofindnodekeys ?? []
}

/** Returns the groups of a unit. */
export function groupsOfUnit({ metadata }: NodeUnit): string[] {
  return Object.entries(metadata.labels ?? {})
    .filter(([, value]) => value === unitWords.grouped)
    .map(([key]) => key)
    .toSorted()
}

const tests = new WeakMap<NodeUnit, (node: Node) => boolean>()

/** Objects of an informer never change, so that each selector is read once. An invalid selector selects nothing. */
export function isMember(unit: NodeUnit, node: Node): boolean {
  let test = tests.get(unit)
  if (!test) {
    test = memberTest(unit.spec ?? {})
    tests.set(unit, test)
  }
  return test(node)
}

/** A unit that is being deleted lets its nodes go, unless it is a cluster of its own. */
export function isActive({ metadata, spec }: NodeUnit): boolean {
  return metadata.deletionTimestamp === undefined || (spec?.autonomyLevel ?? 'L3') !== 'L3'
}
