import type { FlowSchema } from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import { validateFlowSchema } from './flow-schema-validation.ts'

export const flowSchemaStrategy = strategyOf<FlowSchema>({
  validate: validateFlowSchema,
  validateUpdate: validateFlowSchema,
  ...statusApart,
  hasGeneration: true,
  defaults(schema) {
    const spec = (schema.spec ??= {})
    schema.status ??= {}
    spec.matchingPrecedence ||= 1000
    spec.priorityLevelConfiguration ??= {}
  },
})
