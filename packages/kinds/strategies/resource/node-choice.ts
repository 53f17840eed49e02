import { checkDnsSubdomain, fieldInvalid, type ResourceSliceSpec } from '@skerry/api'
import { addInvalid, type Found } from '../checks.ts'
import { checkNodeSelector } from '../core/pod-spec-validation/node-selector.ts'
import type { Loose } from '../typed-strategy.ts'

export interface NodeChoice {
  readonly allNodes?: boolean
  readonly nodeName?: string
  readonly nodeSelector?: Loose<ResourceSliceSpec>['nodeSelector']
}

/** Collects the names of the set fields for the causes' text. */
export function checkNodeChoice(
  { allNodes, nodeName, nodeSelector }: NodeChoice,
  place: { path: string; emptyName: string },
  found: Found,
): string[] {
  const { path, emptyName } = place
  const chosen: string[] = []
  if (nodeName) {
    chosen.push('`nodeName`')
    addInvalid(found, `${path}.nodeName`, nodeName, checkDnsSubdomain(nodeName))
  } else if (nodeName === '') {
    found.push(fieldInvalid(`${path}.nodeName`, nodeName, emptyName))
  }
  if (nodeSelector) {
    chosen.push('`nodeSelector`')
    checkNodeSelector(nodeSelector, `${path}.nodeSelector`, found)
  }
  if (allNodes) chosen.push('`allNodes`')
  else if (allNodes === false) addMustBeTrue(`${path}.allNodes`, found)
  return chosen
}

export function addMustBeTrue(field: string, found: Found): void {
  found.push(fieldInvalid(field, false, 'must be either unset or set to true'))
}
