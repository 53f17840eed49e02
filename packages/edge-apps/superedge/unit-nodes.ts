import type { Node } from '@skerry/api'
import { byAge } from '../nodes/by-age.ts'
import type { SettingKind } from '../nodes/node-settings-controller.ts'
import { settingsOf } from './unit-settings.ts'
import { isActive, isMember, nodeUnits, type NodeUnit } from './unit.ts'

/** A node may be in several units, and gets what all of them set. */
export const nodeUnitSettings: SettingKind<NodeUnit> = {
  resource: nodeUnits,
  remembersIn: 'edge.skerry.io/set-by-units',
  concerns: isMember,
  settings: (node, units) => settingsOf(unitsOf(node, units)),
}

/** Returns those of the units that a node is in, the oldest first. */
export function unitsOf(node: Node, units: readonly NodeUnit[]): NodeUnit[] {
  return units.filter((unit) => isActive(unit) && isMember(unit, node)).toSorted(byAge)
}
