import {
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  type CSINode,
  type CSINodeDriver,
  type StatusCause,
} from '@skerry/api'
import {
  checkNonNegative,
  checkNotEmpty,
  checkQualifiedField,
  checkUnchanged,
  type Found,
} from '../checks.ts'
import { checkCsiDriverName } from '../core/pod-spec-validation/csi-driver-name.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { kindsBounds } from '../../limits-table.ts'

export const csiNodeStrategy = strategyOf<CSINode>({
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  defaults(node) {
    node.spec ??= {}
  },
  validate: validateCsiNode,
  validateUpdate(next, old) {
    const found = validateCsiNode(next)
    for (const before of old.spec?.drivers ?? []) {
      const now = next.spec?.drivers?.find(({ name }) => name === before.name)
      if (now) checkUnchanged(withoutCount(now), withoutCount(before), 'spec.drivers', found)
    }
    return found
  },
})

const { nodeIdCharactersMax } = kindsBounds.csiNode

function withoutCount(driver: Loose<CSINodeDriver>): Loose<CSINodeDriver> {
  return { ...driver, allocatable: undefined }
}

function validateCsiNode(node: LooseObject<CSINode>): StatusCause[] {
  const found: Found = []
  const names = new Set<string>()
  for (const [at, driver] of (node.spec?.drivers ?? []).entries()) {
    const path = `spec.drivers[${at}]`
    checkDriver(driver, path, found)
    const { name = '' } = driver
    if (names.has(name)) found.push(fieldDuplicate(`${path}.name`, name))
    names.add(name)
    checkTopologyKeys(driver.topologyKeys ?? [], path, found)
  }
  return found
}

function checkDriver(driver: Loose<CSINodeDriver>, path: string, found: Found): void {
  const { name = '', nodeID = '' } = driver
  checkCsiDriverName(name, `${path}.name`, found)
  checkNotEmpty(nodeID, `${path}.nodeID`, found)
  if (nodeID.length > nodeIdCharactersMax) {
    const detail = `must be ${nodeIdCharactersMax} characters or less`
    found.push(fieldInvalid(`${path}.nodeID`, nodeID, detail))
  }
  checkNonNegative(driver.allocatable?.count, `${path}.allocatable.count`, found)
}

function checkTopologyKeys(keys: readonly string[], path: string, found: Found): void {
  const seen = new Set<string>()
  for (const key of keys) {
    if (!key) found.push(fieldRequired(path))
    if (seen.has(key)) found.push(fieldDuplicate(path, key))
    seen.add(key)
    checkQualifiedField(key, path, found)
  }
}
