import { fieldForbidden, type PriorityClass, type StatusCause } from '@skerry/api'
import { checkRequiredOneOf, checkUnchanged, type Found } from '../checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { kindsBounds } from '../../limits-table.ts'

export const priorityClassStrategy = strategyOf<PriorityClass>({
  hasGeneration: true,
  defaults(priorityClass) {
    priorityClass.value ??= 0
    priorityClass.preemptionPolicy ??= 'PreemptLowerPriority'
  },
  validate: validatePriorityClass,
  validateUpdate(next, old) {
    const found: Found = []
    if ((next.value ?? 0) !== (old.value ?? 0)) {
      found.push(fieldForbidden('value', 'may not be changed in an update.'))
    }
    checkUnchanged(next.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy', found)
    return found
  },
})

const { userValueMax } = kindsBounds.priorityClass
const systemPrefix = 'system-'
const systemClasses: Readonly<Record<string, number>> = Object.freeze({
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
})

function validatePriorityClass(priorityClass: LooseObject<PriorityClass>): StatusCause[] {
  const found: Found = []
  const { name = '' } = priorityClass.metadata
  const { value = 0, preemptionPolicy } = priorityClass
  if (name.startsWith(systemPrefix)) {
    const error = systemClassError(name, value, priorityClass.globalDefault ?? false)
    if (error) {
      const detail = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${error}`
      found.push(fieldForbidden('metadata.name', detail))
    }
  } else if (value > userValueMax) {
    const detail = `maximum allowed value of a user defined priority is ${userValueMax}`
    found.push(fieldForbidden('value', detail))
  }
  const policies = ['PreemptLowerPriority', 'Never']
  checkRequiredOneOf(preemptionPolicy, policies, 'preemptionPolicy', found)
  return found
}

function systemClassError(name: string, value: number, isDefault: boolean): string | undefined {
  const wanted = systemClasses[name]
  if (wanted === undefined) return `${name} is not a known system priority class`
  if (value !== wanted) return `value of ${name} PriorityClass must be ${wanted}`
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}
