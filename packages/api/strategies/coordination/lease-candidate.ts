import type { LeaseCandidate } from '../../generated/types.ts'
import type { StatusCause } from '../../status-error.ts'
import { checkNotEmpty, checkUnchanged, type Found } from '../checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const leaseCandidateStrategy = strategyOf<LeaseCandidate>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: validateCandidate,
  validateUpdate(next, old) {
    const found = validateCandidate(next)
    checkUnchanged(next.spec?.leaseName, old.spec?.leaseName, 'spec.leaseName', found)
    return found
  },
})

function validateCandidate(candidate: LooseObject<LeaseCandidate>): StatusCause[] {
  const found: Found = []
  const { leaseName, binaryVersion, strategy } = candidate.spec ?? {}
  checkNotEmpty(leaseName, 'spec.leaseName', found)
  checkNotEmpty(binaryVersion, 'spec.binaryVersion', found)
  checkNotEmpty(strategy, 'spec.strategy', found)
  return found
}
