import { fieldInvalid, fieldNotSupported, type StatusCause, type Toleration } from '@skerry/api'
import { affinityCauses, labelKeyCauses } from './policy-checks.ts'
import type {
  ClusterAffinity,
  ClusterAffinityTerm,
  Placement,
  ReplicaScheduling,
  SpreadConstraint,
} from './propagation-policy.ts'

/** Returns the errors of a placement that Karmada's webhook finds, in its words. */
export function placementCauses(placement: Placement, field: string): StatusCause[] {
  const { clusterAffinity, clusterAffinities, replicaScheduling } = placement
  const causes: StatusCause[] = []
  if (clusterAffinity && clusterAffinities) {
    const why = 'clusterAffinities cannot co-exist with clusterAffinity'
    causes.push(fieldInvalid(field, placement, why))
  }
  const terms = clusterAffinities ?? []
  return [
    ...causes,
    ...(mayOverflow(replicaScheduling) ? [] : overflowUseCauses(terms, field)),
    ...affinityCauses(clusterAffinity, `${field}.clusterAffinity`),
    ...termCauses(terms, `${field}.clusterAffinities`),
    ...spreadCauses(placement.spreadConstraints ?? [], `${field}.spreadConstraints`),
    ...workloadCauses(placement.workloadAffinity, `${field}.workloadAffinity`),
    ...tolerationCauses(placement.clusterTolerations ?? [], `${field}.clusterTolerations`),
  ]
}

function mayOverflow(scheduling: ReplicaScheduling | undefined): boolean {
  if (scheduling?.replicaSchedulingType !== 'Divided') return false
  const { replicaDivisionPreference, weightPreference } = scheduling
  if (replicaDivisionPreference === 'Aggregated') return true
  return replicaDivisionPreference === 'Weighted' && !!weightPreference?.dynamicWeight
}

function overflowUseCauses(terms: readonly ClusterAffinityTerm[], field: string): StatusCause[] {
  const why =
    'overflowAffinities can only be used together with dynamic weight or aggregated scheduling'
  return terms.flatMap(({ overflowAffinities }, at) => {
    const path = `${field}.clusterAffinities[${at}].overflowAffinities`
    return overflowAffinities ? [fieldInvalid(path, overflowAffinities, why)] : []
  })
}

function termCauses(terms: readonly ClusterAffinityTerm[], field: string): StatusCause[] {
  const names = new Set<string>()
  return terms.flatMap((term, at) => {
    const path = `${field}[${at}]`
    const causes = labelKeyCauses(path, term.affinityName)
    if (names.has(term.affinityName)) {
      const why = 'each affinity term in a policy must have a unique name'
      causes.push(fieldInvalid(field, terms, why))
    }
    names.add(term.affinityName)
    return [...causes, ...affinityCauses(term, path), ...overflowCauses(term, path)]
  })
}

function overflowCauses(term: ClusterAffinityTerm, path: string): StatusCause[] {
  const { affinityName, overflowAffinities } = term
  if (!overflowAffinities) return []
  const field = `${path}.overflowAffinities`
  const causes: StatusCause[] = []
  if (isEmpty(term)) {
    const why = 'overflowAffinities can only be used together with the inline ClusterAffinity'
    causes.push(fieldInvalid(field, overflowAffinities, why))
  }
  const names = new Set([affinityName])
  for (const [at, overflow] of overflowAffinities.entries()) {
    const nameField = `${field}[${at}].affinityName`
    causes.push(...labelKeyCauses(nameField, overflow.affinityName))
    if (names.has(overflow.affinityName)) {
      const why =
        "overflow affinity name must be unique and must not duplicate the primary group's affinityName"
      causes.push(fieldInvalid(nameField, overflow.affinityName, why))
    }
    names.add(overflow.affinityName)
    causes.push(...affinityCauses(overflow, `${field}[${at}]`))
  }
  return causes
}

function isEmpty({ labelSelector, fieldSelector, clusterNames, exclude }: ClusterAffinity) {
  return !labelSelector && !fieldSelector && !clusterNames?.length && !exclude?.length
}

function spreadCauses(constraints: readonly SpreadConstraint[], field: string): StatusCause[] {
  const causes = constraints.flatMap((constraint, at) =>
    constraintFaults(constraint).map((why) => fieldInvalid(`${field}[${at}]`, constraint, why)),
  )
  const fields = constraints.flatMap(({ spreadByField }) => spreadByField || [])
  const told = new Set<string>()
  for (const [at, name] of fields.entries()) {
    if (fields.indexOf(name) === at || told.has(name)) continue
    told.add(name)
    const why = `multiple ${name} spread constraints are not allowed`
    causes.push(fieldInvalid(field, constraints, why))
  }
  if (fields.length > 0 && !fields.includes('cluster')) {
    const why =
      'the cluster spread constraint must be enabled in one of the constraints in case of SpreadByField is enabled'
    causes.push(fieldInvalid(field, constraints, why))
  }
  return causes
}

function constraintFaults(constraint: SpreadConstraint): string[] {
  const { spreadByField, spreadByLabel, minGroups = 0, maxGroups = 0 } = constraint
  return [
    ...(spreadByField && spreadByLabel
      ? ['spreadByLabel should not co-exist with spreadByField']
      : []),
    ...(minGroups < 0 ? ['minGroups lower than 0 is not allowed'] : []),
    ...(maxGroups < 0 ? ['maxGroups lower than 0 is not allowed'] : []),
    ...(maxGroups > 0 && maxGroups < minGroups
      ? ['maxGroups lower than minGroups is not allowed']
      : []),
  ]
}

function workloadCauses(workload: Placement['workloadAffinity'], field: string): StatusCause[] {
  const near = workload?.affinity?.groupByLabelKey
  const far = workload?.antiAffinity?.groupByLabelKey
  return [
    ...(near === undefined ? [] : labelKeyCauses(`${field}.affinity.groupByLabelKey`, near)),
    ...(far === undefined ? [] : labelKeyCauses(`${field}.antiAffinity.groupByLabelKey`, far)),
    ...(near === undefined || near !== far
      ? []
      : [
          fieldInvalid(
            field,
            workload,
            'affinity and antiAffinity must not use the same groupByLabelKey',
          ),
        ]),
  ]
}

/** Numbers are compared on nodes only. */
function tolerationCauses(tolerations: readonly Toleration[], field: string): StatusCause[] {
  return tolerations.flatMap(({ operator }, at) =>
    operator === 'Lt' || operator === 'Gt'
      ? [fieldNotSupported(`${field}[${at}].operator`, operator, ['', 'Exists', 'Equal'])]
      : [],
  )
}
