import type { ControllerRevision } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const controllerRevisionStrategy = strategyOf<ControllerRevision>({
  hasGeneration: false,
  defaults(revision) {
    revision.revision ??= 0
  },
})
