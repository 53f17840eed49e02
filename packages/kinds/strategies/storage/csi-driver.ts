import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  type CSIDriver,
  type StatusCause,
} from '@skerry/api'
import { checkOneOf, checkUnchanged, type Found } from '../checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { isSame } from '../checks.ts'

export const csiDriverStrategy = strategyOf<CSIDriver>({
  hasGeneration: false,
  warnings({ spec = {} }, old) {
    const { serviceAccountTokenInSecrets: isInSecrets, tokenRequests = [] } = spec
    if (tokenRequests.length === 0 || isInSecrets !== undefined) return []
    if (old && isSame(tokenRequests, old.spec?.tokenRequests)) return []
    const why = 'set to true to prevent possible logging of tokens in volume attributes'
    return [`spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, ${why}`]
  },
  allowUnconditionalUpdate: false,
  defaults: applyDriverDefaults,
  // The generation counts from the first change on; a new driver has none.
  prepareForUpdate(next, old) {
    if (isSame(next.spec, old.spec)) return
    next.metadata.generation = (old.metadata.generation ?? 0) + 1
  },
  validate: validateDriver,
  validateUpdate(next, old) {
    const found = validateDriver(next)
    const { attachRequired, volumeLifecycleModes } = next.spec ?? {}
    checkUnchanged(attachRequired, old.spec?.attachRequired, 'spec.attachedRequired', found)
    const modes = old.spec?.volumeLifecycleModes
    checkUnchanged(volumeLifecycleModes, modes, 'spec.volumeLifecycleModes', found)
    return found
  },
})

function applyDriverDefaults(driver: LooseObject<CSIDriver>): void {
  const spec = (driver.spec ??= {})
  spec.attachRequired ??= true
  spec.podInfoOnMount ??= false
  spec.storageCapacity ??= false
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
  if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent']
  spec.requiresRepublish ??= false
  spec.seLinuxMount ??= false
}

function validateDriver(driver: LooseObject<CSIDriver>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = driver
  const policies = ['File', 'None', 'ReadWriteOnceWithFSType']
  checkOneOf(spec.fsGroupPolicy, policies, 'spec.fsGroupPolicy', found)
  checkTokenRequests(spec.tokenRequests ?? [], 'spec.tokenRequests', found)
  const modes = ['Persistent', 'Ephemeral']
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!modes.includes(mode)) {
      found.push(fieldNotSupported('spec.volumeLifecycleModes', mode, modes))
    }
  }
  const period = spec.nodeAllocatableUpdatePeriodSeconds
  if (period !== undefined && period < 10) {
    const field = 'spec.nodeAllocatableUpdatePeriodSeconds'
    found.push(fieldInvalid(field, period, 'must be greater than or equal to 10 seconds'))
  }
  return found
}

interface TokenRequest {
  audience?: string
  expirationSeconds?: number
}

function checkTokenRequests(requests: readonly TokenRequest[], field: string, found: Found): void {
  const audiences = new Set<string>()
  for (const [at, { audience = '', expirationSeconds: seconds }] of requests.entries()) {
    if (audiences.has(audience)) {
      found.push(fieldDuplicate(`${field}[${at}].audience`, audience))
      continue
    }
    audiences.add(audience)
    const path = `${field}[${at}].expirationSeconds`
    if (seconds !== undefined && seconds < 600) {
      found.push(fieldInvalid(path, seconds, 'may not specify a duration less than 10 minutes'))
    }
    if (seconds !== undefined && seconds > 2 ** 32) {
      found.push(fieldInvalid(path, seconds, 'may not specify a duration larger than 2^32 seconds'))
    }
  }
}
