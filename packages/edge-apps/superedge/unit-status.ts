import type { Node } from '@skerry/api'
import { selectorFault } from '../groups/group-members.ts'
import { isReady } from '../groups/label-groups.ts'
import { settingsOf } from './unit-settings.ts'
import type { NodeUnit, UnitCondition } from './unit.ts'

/**
 * Returns the status of a unit. Another controller reports what keeps it from being a cluster. `unitsOf` returns all units of a
 * node, in the order of their precedence.
 */
export function unitStatus(
  unit: NodeUnit,
  members: readonly Node[],
  unitsOf: (node: Node) => readonly NodeUnit[],
): NonNullable<NodeUnit['status']> {
  const ready = namesOf(members.filter(isReady))
  const notReady = namesOf(members.filter((node) => !isReady(node)))
  const conditions = [
    ...selectorOf(unit),
    ...conflictsOf(unit, members, unitsOf),
    ...autonomyOf(unit),
  ]
  const { unitClusterStatus } = unit.status ?? {}
  return {
    readyRate: `${ready.length}/${members.length}`,
    ...(ready.length === 0 ? {} : { readyNodes: ready }),
    ...(notReady.length === 0 ? {} : { notReadyNodes: notReady }),
    ...(unitClusterStatus ? { unitClusterStatus } : {}),
    ...(conditions.length === 0 ? {} : { conditions }),
  }
}

function namesOf(nodes: readonly Node[]): string[] {
  return nodes.map(({ metadata }) => metadata.name ?? '').toSorted()
}

function selectorOf({ spec }: NodeUnit): UnitCondition[] {
  const fault = selectorFault(spec?.selector)
  if (fault === undefined) return []
  const message = `spec.selector selects no node: ${fault}`
  return [{ type: 'Refused', status: 'True', reason: 'InvalidSelector', message }]
}

/** Says what other units of the same nodes set otherwise. */
function conflictsOf(
  { metadata }: NodeUnit,
  members: readonly Node[],
  unitsOf: (node: Node) => readonly NodeUnit[],
): UnitCondition[] {
  const found = new Map<string, string>()
  for (const node of members) {
    const units = unitsOf(node)
    if (units.length < 2) continue
    for (const { unit, setting, other } of settingsOf(units).conflicts) {
      const text = `${setting} is set by unit ${other}`
      if (unit === metadata.name && !found.has(text)) found.set(text, node.metadata.name ?? '')
    }
  }
  if (found.size === 0) return []
  const message = [...found].map(([text, node]) => `${text} (e.g. on node ${node})`).join('; ')
  return [{ type: 'Conflict', status: 'True', reason: 'OtherUnitFirst', message }]
}

function autonomyOf({ status }: NodeUnit): UnitCondition[] {
  const failed = status?.unitClusterStatus?.conditions.find((each) => each.status === 'False')
  if (!failed) return []
  const message = `Cannot make the unit a cluster of its own: ${failed.message}`
  return [{ type: 'Autonomy', status: 'True', reason: failed.reason, message }]
}
