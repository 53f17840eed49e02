import {
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
  labelSelectorOf,
  type Node,
} from '@skerry/api'
import { selectorFault } from '../groups/group-members.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import { findGroups, keysHash } from './found-groups.ts'
import {
  foundKeysOf,
  groupsOfUnit,
  nodeUnits,
  unitsNamedBy,
  unitWords,
  type NodeGroup,
  type NodeUnit,
  type UnitCondition,
} from './unit.ts'

const { unitsMax } = edgeAppsBounds.foundUnits

export interface GroupView {
  readonly group: NodeGroup
  readonly groups: readonly NodeGroup[]
  readonly units: readonly NodeUnit[]
  readonly nodes: readonly Node[]
}

export interface GroupPlan {
  /** Units to be made of nodes' labels. */
  readonly create: readonly NodeUnit[]
  /** The names of units that get the group's label, and of those that lose it. */
  readonly join: readonly string[]
  readonly leave: readonly string[]
  readonly status: NonNullable<NodeGroup['status']>
}

/** Decides which units a group has; touches nothing. */
export function planGroup({ group, groups, units, nodes }: GroupView): GroupPlan {
  const { name = '', deletionTimestamp } = group.metadata
  const labelled = units.filter((unit) => groupsOfUnit(unit).includes(name))
  if (deletionTimestamp !== undefined) {
    return { create: [], join: [], leave: namesOf(labelled), status: {} }
  }
  const fault = faultOf(group, groups)
  if (fault) {
    const conditions = [fault]
    return { create: [], join: [], leave: [], status: { ...group.status, conditions } }
  }
  const named = unitsNamedBy(group)
  const keys = foundKeysOf(group)
  const parsed = labelSelectorOf(group.spec?.selector ?? {})
  const hash = keys.length === 0 ? undefined : keysHash(keys)
  const members = units.filter(
    ({ metadata: { name: unit = '', labels = {} } }) =>
      named.includes(unit) ||
      (!parsed.isEmpty && parsed.matches(labels)) ||
      (hash !== undefined && labels[unitWords.foundBy] === hash),
  )
  const { create, conditions } = foundUnits(group, units, nodes)
  const names = namesOf(members)
  return {
    create,
    join: names.filter((each) => !namesOf(labelled).includes(each)),
    leave: namesOf(labelled).filter((each) => !names.includes(each)),
    status: {
      unitNumber: names.length,
      ...(names.length === 0 ? {} : { nodeUnits: names }),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  }
}

function namesOf(units: readonly NodeUnit[]): string[] {
  return units.map(({ metadata }) => metadata.name ?? '').toSorted()
}

function faultOf(group: NodeGroup, groups: readonly NodeGroup[]): UnitCondition | undefined {
  const { name = '' } = group.metadata
  const [fault] = checkQualifiedName(name)
  if (fault !== undefined) {
    return refused('InvalidName', `"${name}" cannot be the key of a label of nodes: ${fault}`)
  }
  const selecting = selectorFault(group.spec?.selector)
  if (selecting !== undefined) {
    return refused('InvalidSelector', `spec.selector selects no unit: ${selecting}`)
  }
  const back = cycleOf(group, groups)
  if (back === undefined) return undefined
  const message = `autoFindNodeKeys of NodeGroup ${back} names a label that depends on this group: units would be made without end`
  return refused('Cycle', message)
}

/** A group labels nodes by its own name: keys that lead back to it find new values for ever. */
function cycleOf(group: NodeGroup, groups: readonly NodeGroup[]): string | undefined {
  const known = new Map(groups.map((each) => [each.metadata.name ?? '', each]))
  const { name = '' } = group.metadata
  const seen = new Set<string>()
  const next = [name]
  for (let each = next.pop(); each !== undefined; each = next.pop()) {
    const other = known.get(each)
    for (const key of other ? foundKeysOf(other) : []) {
      if (key === name) return each
      if (!known.has(key) || seen.has(key)) continue
      seen.add(key)
      next.push(key)
    }
  }
  return undefined
}

function foundUnits(
  group: NodeGroup,
  units: readonly NodeUnit[],
  nodes: readonly Node[],
): { create: NodeUnit[]; conditions: UnitCondition[] } {
  const keys = foundKeysOf(group)
  const found = findGroups(keys, nodes)
  if (found.length > unitsMax) {
    const message = `nodes have ${found.length} combinations of ${keys.join(', ')}, and ${unitsMax} are the most`
    return { create: [], conditions: [refused('TooManyUnits', message)] }
  }
  const hash = keysHash(keys)
  const known = new Map(units.map((unit) => [unit.metadata.name ?? '', unit]))
  const create: NodeUnit[] = []
  const conditions: UnitCondition[] = []
  for (const { name, labels } of found) {
    const other = known.get(name)
    const [fault] = [...checkDnsSubdomain(name), ...checkLabelValue(name)]
    if (fault !== undefined) {
      conditions.push(refused('InvalidUnitName', `"${name}" cannot be a unit: ${fault}`))
    } else if (!other) create.push(unitOf({ group, hash, name, labels }))
    else if (other.metadata.labels?.[unitWords.foundBy] !== hash) {
      const message = `NodeUnit ${name} exists and was not made for these keys`
      conditions.push(refused('UnitNameTaken', message))
    }
  }
  return { create, conditions }
}

function unitOf(found: {
  group: NodeGroup
  hash: string
  name: string
  labels: Readonly<Record<string, string>>
}): NodeUnit {
  const { group, hash, name, labels } = found
  const { name: groupName = '' } = group.metadata
  return {
    apiVersion: `${nodeUnits.group}/${nodeUnits.version}`,
    kind: nodeUnits.kind,
    metadata: {
      name,
      labels: { [unitWords.foundBy]: hash, [groupName]: unitWords.grouped },
      annotations: { ...labels },
    },
    spec: { type: unitWords.foundType, selector: { matchLabels: { ...labels } } },
  }
}

function refused(reason: string, message: string): UnitCondition {
  return { type: 'Refused', status: 'True', reason, message }
}
