import { fieldInvalid, parseQuantity, type CSIStorageCapacity, type StatusCause } from '@skerry/api'
import { checkSubdomainField, checkUnchanged, type Found } from '../checks.ts'
import { checkLabelSelector } from '../label-checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { adviceOnNodeLabel, warningsOfExpressionKeys } from '../node-label-warnings.ts'

export const csiStorageCapacityStrategy = strategyOf<CSIStorageCapacity>({
  warnings({ nodeTopology = {} }) {
    const { matchExpressions, matchLabels = {} } = nodeTopology
    return [
      ...warningsOfExpressionKeys(matchExpressions, 'nodeTopology.matchExpressions'),
      ...Object.keys(matchLabels).flatMap((key) => {
        const advice = adviceOnNodeLabel(key)
        return advice ? [`nodeTopology.matchLabels.${key}: ${advice}`] : []
      }),
    ]
  },
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  validate: validateCapacity,
  validateForm: validateCapacity,
  validateUpdate(next, old) {
    const found: Found = []
    checkUnchanged(next.nodeTopology, old.nodeTopology, 'nodeTopology', found)
    checkUnchanged(next.storageClassName, old.storageClassName, 'storageClassName', found)
    return found
  },
})

function validateCapacity(object: LooseObject<CSIStorageCapacity>): StatusCause[] {
  const found: Found = []
  const { nodeTopology, storageClassName = '', capacity } = object
  checkLabelSelector(nodeTopology, 'nodeTopology', found)
  checkSubdomainField(storageClassName, 'storageClassName', found)
  if (capacity !== undefined && parseQuantity(capacity).nanos < 0n) {
    found.push(fieldInvalid('capacity', capacity, 'must be greater than or equal to 0'))
  }
  return found
}
