import type { LimitRange, LimitRangeItem } from '../../generated/types.ts'
import { strategyOf, type Loose } from '../typed-strategy.ts'
import { addMissingAmounts } from './resource-list.ts'
import { validateLimitRange } from './limit-range-validation.ts'

export const limitRangeStrategy = strategyOf<LimitRange>({
  validate: validateLimitRange,
  validateUpdate: validateLimitRange,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  defaults(range) {
    const spec = (range.spec ??= {})
    for (const item of spec.limits ?? []) applyItemDefaults(item)
  },
  prepareForCreate(next, context) {
    next.metadata.name ||= context.newUid()
  },
})

function applyItemDefaults(item: Loose<LimitRangeItem>): void {
  if (item.type !== 'Container') return
  addMissingAmounts((item.default ??= {}), item.max)
  addMissingAmounts((item.defaultRequest ??= {}), item.default)
  addMissingAmounts(item.defaultRequest, item.min)
}
