import { fieldInvalid, type StatusCause } from '@skerry/api'
import { labelKeyCauses } from './policy-checks.ts'
import type { FailoverBehavior, PurgeMode, StatePreservation } from './propagation-policy.ts'

type ApplicationFailover = Required<FailoverBehavior>['application']

/** Both names of it: the old one goes on being good. */
const gracious: readonly (PurgeMode | undefined)[] = ['Graciously', 'Gracefully']

export function failoverCauses(
  { application, cluster }: FailoverBehavior,
  field: string,
): StatusCause[] {
  return [
    ...(application ? applicationCauses(application, `${field}.application`) : []),
    ...stateCauses(cluster?.statePreservation, `${field}.cluster.statePreservation`),
  ]
}

function applicationCauses(application: ApplicationFailover, field: string): StatusCause[] {
  const { purgeMode, gracePeriodSeconds, statePreservation } = application
  const { tolerationSeconds = 0 } = application.decisionConditions
  const isGracious = gracious.includes(purgeMode)
  const causes: StatusCause[] = []
  if (tolerationSeconds < 0) {
    const at = `${field}.decisionConditions.tolerationSeconds`
    causes.push(fieldInvalid(at, tolerationSeconds, 'must be greater than or equal to 0'))
  }
  const grace = `${field}.gracePeriodSeconds`
  if (!isGracious && gracePeriodSeconds !== undefined) {
    const why = 'only takes effect when purgeMode is gracefully'
    causes.push(fieldInvalid(grace, gracePeriodSeconds, why))
  }
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds <= 0) {
    causes.push(fieldInvalid(grace, gracePeriodSeconds, 'must be greater than 0'))
  }
  return [...causes, ...stateCauses(statePreservation, `${field}.statePreservation`)]
}

function stateCauses(state: StatePreservation | undefined, field: string): StatusCause[] {
  return (state?.rules ?? []).flatMap(({ aliasLabelName }, at) =>
    labelKeyCauses(`${field}.rules[${at}].aliasLabelName`, aliasLabelName),
  )
}
