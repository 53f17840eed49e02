import { fieldInvalid, type Lease, type StatusCause } from '@skerry/api'
import type { Found } from '../checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const leaseStrategy = strategyOf<Lease>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  defaults(lease) {
    lease.spec ??= {}
  },
  prepareForCreate(next) {
    // Coordinated election is an alpha feature that is off: its fields are dropped, not refused.
    delete next.spec?.strategy
    delete next.spec?.preferredHolder
  },
  prepareForUpdate({ spec }, { spec: before }) {
    if (before?.strategy === undefined) delete spec?.strategy
    if (before?.preferredHolder === undefined) delete spec?.preferredHolder
  },
  validate: validateLease,
  validateUpdate: validateLease,
})

function validateLease(lease: LooseObject<Lease>): StatusCause[] {
  const found: Found = []
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = lease.spec ?? {}
  if (duration !== undefined && duration <= 0) {
    found.push(fieldInvalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'))
  }
  if (transitions !== undefined && transitions < 0) {
    const detail = 'must be greater than or equal to 0'
    found.push(fieldInvalid('spec.leaseTransitions', transitions, detail))
  }
  return found
}
