import type { LimitRange, LimitRangeItem } from '@skerry/api'
import { strategyOf, type Loose } from '../typed-strategy.ts'
import { withMissingAmounts } from './pod-spec-validation/resource-list.ts'
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
  item.default = withMissingAmounts(item.default, item.max)
  const requests = withMissingAmounts(item.defaultRequest, item.default)
  item.defaultRequest = withMissingAmounts(requests, item.min)
  for (const list of ['default', 'defaultRequest'] as const) {
    if (Object.keys(item[list] ?? {}).length === 0) delete item[list]
  }
}
