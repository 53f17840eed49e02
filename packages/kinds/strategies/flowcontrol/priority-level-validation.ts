import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type LimitResponse,
  type LimitedPriorityLevelConfiguration,
  type PriorityLevelConfiguration,
  type StatusCause,
} from '@skerry/api'
import { checkRange, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { kindsBounds } from '../../limits-table.ts'

const { queuesMax } = kindsBounds.priorityLevelValidation

export function validatePriorityLevel(
  level: LooseObject<PriorityLevelConfiguration>,
): StatusCause[] {
  const found: Found = []
  const { type = '', limited, exempt } = level.spec ?? {}
  if ((level.metadata.name === 'exempt') !== (type === 'Exempt')) {
    const detail = "must be 'Exempt' if and only if `name` is 'exempt'"
    found.push(fieldInvalid('spec.type', type, detail))
  }
  if (type === 'Exempt') {
    if (limited) {
      found.push(fieldForbidden('spec.limited', 'must be nil if the type is not Limited'))
    }
    if (exempt) checkShares(exempt, 'spec.exempt', found)
  } else if (type === 'Limited') {
    if (exempt) found.push(fieldForbidden('spec.exempt', 'must be nil if the type is Limited'))
    if (limited) checkLimited(limited, 'spec.limited', found)
    else found.push(fieldRequired('spec.limited', 'must not be empty when type is Limited'))
  } else if (type) {
    found.push(fieldNotSupported('spec.type', type, ['Exempt', 'Limited']))
  } else {
    found.push(fieldRequired('spec.type'))
  }
  return found
}

interface Shares {
  nominalConcurrencyShares?: number
  lendablePercent?: number
}

function checkShares(shares: Shares, path: string, found: Found): void {
  const { nominalConcurrencyShares: nominal = 0, lendablePercent } = shares
  if (nominal < 0) {
    const detail = 'must be a non-negative integer'
    found.push(fieldInvalid(`${path}.nominalConcurrencyShares`, nominal, detail))
  }
  if (lendablePercent === undefined) return
  checkRange(lendablePercent, { min: 0, max: 100 }, `${path}.lendablePercent`, found)
}

function checkLimited(
  limited: Loose<LimitedPriorityLevelConfiguration>,
  path: string,
  found: Found,
): void {
  checkShares({ nominalConcurrencyShares: limited.nominalConcurrencyShares ?? 0 }, path, found)
  checkResponse(limited.limitResponse ?? {}, `${path}.limitResponse`, found)
  checkShares({ lendablePercent: limited.lendablePercent ?? 0 }, path, found)
  const { borrowingLimitPercent: borrowing } = limited
  if (borrowing !== undefined && borrowing < 0) {
    const detail = 'if specified, must be a non-negative integer'
    found.push(fieldInvalid(`${path}.borrowingLimitPercent`, borrowing, detail))
  }
}

function checkResponse(response: Loose<LimitResponse>, path: string, found: Found): void {
  const { type = '', queuing } = response
  const field = `${path}.queuing`
  if (type === 'Reject') {
    if (!queuing) return
    found.push(fieldForbidden(field, 'must be nil if limited.limitResponse.type is not Limited'))
  } else if (type === 'Queue') {
    if (queuing) checkQueuing(queuing, field, found)
    else
      found.push(fieldRequired(field, 'must not be empty if limited.limitResponse.type is Limited'))
  } else if (type) {
    found.push(fieldNotSupported(`${path}.type`, type, ['Queue', 'Reject']))
  } else {
    found.push(fieldRequired(`${path}.type`))
  }
}

function checkQueuing(
  queuing: NonNullable<Loose<LimitResponse>['queuing']>,
  path: string,
  found: Found,
): void {
  const { queueLengthLimit = 0, queues = 0, handSize = 0 } = queuing
  if (queueLengthLimit <= 0) {
    found.push(fieldInvalid(`${path}.queueLengthLimit`, queueLengthLimit, 'must be positive'))
  }
  if (queues <= 0) found.push(fieldInvalid(`${path}.queues`, queues, 'must be positive'))
  else if (queues > queuesMax) {
    const detail = `must not be greater than ${queuesMax}`
    found.push(fieldInvalid(`${path}.queues`, queues, detail))
  }
  if (handSize <= 0) {
    found.push(fieldInvalid(`${path}.handSize`, handSize, 'must be positive'))
  } else if (handSize > queues) {
    const detail = `should not be greater than queues (${queues})`
    found.push(fieldInvalid(`${path}.handSize`, handSize, detail))
  }
}
