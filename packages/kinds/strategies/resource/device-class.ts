import {
  fieldInvalid,
  fieldTooMany,
  type DeviceClass,
  type DeviceTaint,
  type DeviceTaintRule,
  type StatusCause,
} from '@skerry/api'
import { loadExpressions } from '../../expressions/expressions.ts'
import { checkLabelField, type Found } from '../checks.ts'
import { checkCsiDriverName } from '../core/pod-spec-validation/csi-driver-name.ts'
import { isExtendedResource } from '../core/pod-spec-validation/resource-names.ts'
import { checkConditions } from '../conditions.ts'
import { keepField, statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { rfc3339 } from '../timestamps.ts'
import { checkDeviceConfig } from './device-config.ts'
import { checkTaint } from './device-validation.ts'
import { checkList } from './list-checks.ts'
import { checkPoolName } from './pool-name.ts'
import { checkSelectors } from './selector-validation.ts'
import { setTaintTimes } from './taint-time.ts'
import { configsMax, kindsBounds } from '../../limits-table.ts'

export const deviceClassStrategy = strategyOf<DeviceClass>({
  load: loadExpressions,
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
    rule.spec.taint ??= {}
  },
  setTimes(rule, nowMs) {
    setTaintTimes([taintOf(rule)], nowMs)
  },
  prepareForUpdate(next, old, { nowMs }) {
    keepField(next, old, 'status')
    const [taint, before] = [taintOf(next), taintOf(old)]
    // The time belongs to the effect, not to the rule.
    if (taint.effect !== before.effect && taint.timeAdded === before.timeAdded) {
      taint.timeAdded = rfc3339(nowMs)
    }
  },
  validate: validateTaintRule,
  validateUpdate: validateTaintRule,
  validateStatusUpdate({ status = {} }) {
    const found: Found = []
    const { conditions = [] } = status
    const field = 'status.conditions'
    checkConditions(conditions, field, found)
    if (conditions.length > conditionsMax) {
      found.push(fieldTooMany(field, conditions.length, conditionsMax))
    }
    return found
  },
})

const { conditionsMax } = kindsBounds.deviceClass

function validateDeviceClass({ spec = {} }: LooseObject<DeviceClass>): StatusCause[] {
  const found: Found = []
  const { config = [], extendedResourceName: name, selectors = [] } = spec
  checkSelectors(selectors, 'spec.selectors', found)
  const limit = { field: 'spec.config', max: configsMax }
  checkList(config, limit, found, checkDeviceConfig)
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
  checkTaint(taintOf({ spec }), 'spec.taint', found)
  return found
}

function taintOf({ spec = {} }: Pick<LooseObject<DeviceTaintRule>, 'spec'>): Loose<DeviceTaint> {
  // The type is open; decoding has verified that this is an object of that definition or missing.
  return (spec.taint ?? {}) as Loose<DeviceTaint>
}
