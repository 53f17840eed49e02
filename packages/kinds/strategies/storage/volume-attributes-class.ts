import {
  fieldForbidden,
  fieldRequired,
  type StatusCause,
  type VolumeAttributesClass,
} from '@skerry/api'
import { isSame, type Found } from '../checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { checkParameters, checkProvisioner } from './provisioner-checks.ts'

export const volumeAttributesClassStrategy = strategyOf<VolumeAttributesClass>({
  hasGeneration: false,
  validate: validateClass,
  validateUpdate(next, old) {
    const found: Found = []
    for (const field of ['driverName', 'parameters'] as const) {
      if (isSame(next[field], old[field])) continue
      found.push(fieldForbidden(field, `updates to ${field} are forbidden.`))
    }
    return [...found, ...validateClass(next)]
  },
})

function validateClass(attributesClass: LooseObject<VolumeAttributesClass>): StatusCause[] {
  const found: Found = []
  const { driverName, parameters = {} } = attributesClass
  checkProvisioner(driverName, 'driverName', found)
  checkParameters(parameters, 'parameters', found)
  if (Object.keys(parameters).length === 0) {
    found.push(fieldRequired('parameters', 'must contain at least one key/value pair'))
  }
  return found
}
