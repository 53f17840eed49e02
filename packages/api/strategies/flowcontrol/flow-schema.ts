import type { FlowSchema } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'

export const flowSchemaStrategy = strategyOf<FlowSchema>({
  ...statusApart,
  hasGeneration: true,
  defaults(schema) {
    const spec = (schema.spec ??= {})
    schema.status ??= {}
    spec.matchingPrecedence ||= 1000
    spec.priorityLevelConfiguration ??= {}
  },
})
