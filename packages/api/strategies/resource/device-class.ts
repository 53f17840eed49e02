import type { DeviceClass, DeviceTaintRule } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'

export const deviceClassStrategy = strategyOf<DeviceClass>({
  hasGeneration: true,
  defaults(deviceClass) {
    deviceClass.spec ??= {}
  },
})

export const deviceTaintRuleStrategy = strategyOf<DeviceTaintRule>({
  ...statusApart,
  hasGeneration: true,
  defaults(rule) {
    rule.spec ??= {}
    rule.status ??= {}
  },
})
