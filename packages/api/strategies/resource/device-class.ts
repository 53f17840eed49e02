import type { DeviceClass, DeviceTaint, DeviceTaintRule } from '../../generated/types.ts'
import { fieldInvalid, fieldRequired, fieldTooMany } from '../../field-error.ts'
import type { StatusCause } from '../../status-error.ts'
import { checkLabelField, type Found } from '../checks.ts'
import { checkCsiDriverName } from '../core/csi-driver-name.ts'
import { isExtendedResource } from '../core/resource-names.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { checkSelectors } from './claim-validation.ts'
import { checkTaint } from './device-validation.ts'
import { checkPoolName } from './pool-name.ts'

const listMax = 32

export const deviceClassStrategy = strategyOf<DeviceClass>({
  hasGeneration: true,
  defaults(deviceClass) {
    deviceClass.spec ??= {}
  },
  validate: validateDeviceClass,
  validateUpdate: validateDeviceClass,
})

export const deviceTaintRuleStrategy = strategyOf<DeviceTaintRule>({
  ...statusApart,
  hasGeneration: true,
  defaults(rule) {
    rule.spec ??= {}
    rule.status ??= {}
  },
  validate: validateTaintRule,
  validateUpdate: validateTaintRule,
})

function validateDeviceClass({ spec = {} }: LooseObject<DeviceClass>): StatusCause[] {
  const found: Found = []
  const { config = [], extendedResourceName: name, selectors = [] } = spec
  checkSelectors(selectors, 'spec.selectors', found)
  if (config.length > listMax) found.push(fieldTooMany('spec.config', config.length, listMax))
  for (const [at, { opaque }] of config.entries()) {
    const field = `spec.config[${at}]`
    if (!opaque) {
      found.push(fieldRequired(`${field}.opaque`))
      continue
    }
    checkCsiDriverName(opaque.driver ?? '', `${field}.opaque.driver`, found)
    if (!opaque.parameters) found.push(fieldRequired(`${field}.opaque.parameters`))
  }
  if (name !== undefined && !isExtendedResource(name)) {
    const detail = 'must be a valid extended resource name'
    found.push(fieldInvalid('spec.extendedResourceName', name, detail))
  }
  return found
}

function validateTaintRule({ spec = {} }: LooseObject<DeviceTaintRule>): StatusCause[] {
  const found: Found = []
  const { device, driver, pool } = spec.deviceSelector ?? {}
  const path = 'spec.deviceSelector'
  if (driver !== undefined) checkCsiDriverName(driver, `${path}.driver`, found)
  if (pool !== undefined) checkPoolName(pool, `${path}.pool`, found)
  if (device !== undefined) checkLabelField(device, `${path}.device`, found)
  // The schema leaves it open; decoding has seen an object here or nothing.
  checkTaint((spec.taint ?? {}) as Loose<DeviceTaint>, 'spec.taint', found)
  return found
}
