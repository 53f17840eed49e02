import type { CSINode } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const csiNodeStrategy = strategyOf<CSINode>({
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  defaults(node) {
    node.spec ??= {}
  },
})
