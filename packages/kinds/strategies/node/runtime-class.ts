import { fieldDuplicate, type RuntimeClass, type StatusCause } from '@skerry/api'
import { checkLabelField, checkNotEmpty, checkUnchanged, isSame, type Found } from '../checks.ts'
import { checkRequirements } from '../core/pod-spec-validation/resources.ts'
import { checkTolerations } from '../core/pod-spec-validation/tolerations.ts'
import { checkLabels } from '../label-checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { adviceOnNodeLabel } from '../node-label-warnings.ts'

export const runtimeClassStrategy = strategyOf<RuntimeClass>({
  warnings({ scheduling }) {
    return Object.keys(scheduling?.nodeSelector ?? {}).flatMap((key) => {
      const advice = adviceOnNodeLabel(key)
      return advice ? [`scheduling.nodeSelector: ${advice}`] : []
    })
  },
  hasGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: validateRuntimeClass,
  validateUpdate(next, old) {
    const found = validateRuntimeClass(next)
    checkUnchanged(next.handler, old.handler, 'handler', found)
    return found
  },
})

function validateRuntimeClass(runtimeClass: LooseObject<RuntimeClass>): StatusCause[] {
  const found: Found = []
  const { handler = '', overhead, scheduling = {} } = runtimeClass
  if (checkNotEmpty(handler, 'handler', found)) checkLabelField(handler, 'handler', found)
  if (overhead) checkRequirements({ limits: overhead.podFixed }, new Set(), 'overhead', found)
  checkLabels(scheduling.nodeSelector, 'scheduling.nodeSelector', found)
  const tolerations = scheduling.tolerations ?? []
  checkTolerations(tolerations, 'scheduling.tolerations', found)
  for (const [at, toleration] of tolerations.entries()) {
    if (!tolerations.slice(0, at).some((other) => isSame(other, toleration))) continue
    const { key = '', operator = '', value = '', effect = '' } = toleration
    const shown = {
      Key: key,
      Operator: operator,
      Value: value,
      Effect: effect,
      TolerationSeconds: toleration.tolerationSeconds ?? null,
    }
    found.push(fieldDuplicate(`scheduling.tolerations[${at}]`, shown))
  }
  return found
}
