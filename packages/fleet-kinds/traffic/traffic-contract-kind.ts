import {
  StatusError,
  ageOf,
  checkDnsLabel,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  isStatusError,
  labelSelectorOf,
  parseQuantity,
  quantityToNumber,
  type AnyObject,
  type Column,
  type Kind,
  type Schema,
  type StatusCause,
  type Strategy,
} from '@skerry/api'
import { trafficBounds, trafficClasses } from '@skerry/tunnel'
import { hubKind, textColumn } from '../access/hub-kind.ts'
import type {
  TrafficContract,
  TrafficContractRate,
  TrafficContractSpec,
} from './traffic-contract.ts'
import { fleetKindsBounds } from '../limits-table.ts'

const schemaName = 'io.skerry.hub.v1alpha1.TrafficContract'
const { clusterNamesMax, priorityMax } = fleetKindsBounds.trafficContractKind

/**
 * Returns TrafficContract as a kind for an API server. Its schemas refer to definitions of the built-in
 * kinds.
 */
export function trafficContractKind(builtin: readonly Kind[]): Kind {
  const names = {
    kind: 'TrafficContract',
    resource: 'trafficcontracts',
    singular: 'trafficcontract',
  }
  return hubKind({ ...names, schemaName, schemas, columns, strategy }, builtin)
}

const quantity: Schema = { ref: 'io.k8s.apimachinery.pkg.api.resource.Quantity' }
const rate: Schema = { ref: `${schemaName}Rate` }
const ofClass: Schema = { ref: `${schemaName}Class` }

const schemas: Readonly<Record<string, Schema>> = Object.freeze({
  [`${schemaName}Spec`]: {
    type: 'object',
    properties: {
      clusterSelector: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector' },
      clusterNames: { type: 'array', items: { type: 'string' } },
      priority: { type: 'integer', format: 'int32' },
      uplink: rate,
      downlink: rate,
      classes: {
        type: 'object',
        additionalProperties: ofClass,
      },
      bulkAfter: quantity,
    },
  },
  [`${schemaName}Rate`]: {
    type: 'object',
    properties: { bytesPerSecond: quantity, burst: quantity },
    required: ['bytesPerSecond'],
  },
  [`${schemaName}Class`]: {
    type: 'object',
    properties: { floorPercent: { type: 'integer', format: 'int32' } },
    required: ['floorPercent'],
  },
})

/** The registry hands a strategy only objects that were decoded as their kind; any field may lack. */
function specOf(object: AnyObject): Partial<TrafficContractSpec> {
  return (object as unknown as Partial<TrafficContract>).spec ?? {}
}

const columns: readonly Column[] = [
  textColumn('Name', ({ metadata }) => metadata.name ?? ''),
  textColumn('Uplink', (object) => specOf(object).uplink?.bytesPerSecond ?? '<none>'),
  textColumn('Downlink', (object) => specOf(object).downlink?.bytesPerSecond ?? '<none>'),
  textColumn('Priority', (object) => String(specOf(object).priority ?? 0)),
  textColumn('Age', ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs)),
]

const strategy: Strategy = {
  nameRule: 'dns-subdomain',
  validate: (object) => validateSpec(specOf(object)),
  validateUpdate: (next) => validateSpec(specOf(next)),
}

function validateSpec(spec: Partial<TrafficContractSpec>): StatusCause[] {
  const { uplink, downlink, bulkAfter, priority = 0 } = spec
  const { bulkAfterBytesMin } = trafficBounds
  const causes = [
    ...targetCauses(spec),
    ...rateCauses('spec.uplink', uplink),
    ...rateCauses('spec.downlink', downlink),
    ...classCauses(spec.classes ?? {}),
  ]
  if (bulkAfter !== undefined && !(bytesOf(bulkAfter) >= bulkAfterBytesMin)) {
    const why = `must be a quantity of at least ${bulkAfterBytesMin}`
    causes.push(fieldInvalid('spec.bulkAfter', bulkAfter, why))
  }
  if (Math.abs(priority) > priorityMax) {
    const why = `must be from -${priorityMax} to ${priorityMax}`
    causes.push(fieldInvalid('spec.priority', priority, why))
  }
  return causes
}

function targetCauses({
  clusterSelector,
  clusterNames = [],
}: Partial<TrafficContractSpec>): StatusCause[] {
  if (clusterSelector === undefined && clusterNames.length === 0) {
    const why = 'name clusters in spec.clusterNames, or select them: {} selects all'
    return [fieldRequired('spec.clusterSelector', why)]
  }
  const causes: StatusCause[] = []
  if (clusterNames.length > clusterNamesMax) {
    const why = `must have at most ${clusterNamesMax} items`
    causes.push(fieldInvalid('spec.clusterNames', clusterNames.length, why))
  }
  for (const [at, name] of clusterNames.slice(0, clusterNamesMax).entries()) {
    const [problem] = checkDnsLabel(name)
    if (problem) causes.push(fieldInvalid(`spec.clusterNames[${at}]`, name, problem))
  }
  try {
    labelSelectorOf(clusterSelector)
  } catch (error) {
    if (!(error instanceof StatusError) || !isStatusError(error, 'BadRequest')) throw error
    causes.push(fieldInvalid('spec.clusterSelector', clusterSelector, error.message))
  }
  return causes
}

function rateCauses(field: string, given: TrafficContractRate | undefined): StatusCause[] {
  if (given === undefined) return []
  const { bytesPerSecondMin, bytesPerSecondMax, burstBytesMax } = trafficBounds
  const { bytesPerSecond, burst } = given
  const causes: StatusCause[] = []
  const perSecond = bytesOf(bytesPerSecond)
  if (!(perSecond >= bytesPerSecondMin && perSecond <= bytesPerSecondMax)) {
    const why = `must be a quantity from ${bytesPerSecondMin} to ${bytesPerSecondMax}`
    causes.push(fieldInvalid(`${field}.bytesPerSecond`, bytesPerSecond, why))
  }
  if (burst === undefined) return causes
  const burstBytes = bytesOf(burst)
  if (!(burstBytes >= 0 && burstBytes <= burstBytesMax)) {
    const why = `must be a quantity from 0 to ${burstBytesMax}`
    causes.push(fieldInvalid(`${field}.burst`, burst, why))
  }
  return causes
}

function classCauses(classes: Required<TrafficContractSpec>['classes']): StatusCause[] {
  const causes: StatusCause[] = []
  let sum = 0
  for (const [name, { floorPercent }] of Object.entries(classes)) {
    if (!trafficClasses.some((known) => known === name)) {
      causes.push(fieldNotSupported(`spec.classes`, name, [...trafficClasses]))
    }
    if (!(floorPercent >= 0 && floorPercent <= 100)) {
      const why = 'must be from 0 to 100'
      causes.push(fieldInvalid(`spec.classes[${name}].floorPercent`, floorPercent, why))
    }
    sum += floorPercent
  }
  if (sum > 100) {
    causes.push(fieldInvalid('spec.classes', sum, 'floors must not be more than 100 in all'))
  }
  return causes
}

/** Returns NaN if the text is not a quantity. */
function bytesOf(text: string): number {
  try {
    return quantityToNumber(parseQuantity(text))
  } catch (error) {
    if (error instanceof RangeError) return Number.NaN
    throw error
  }
}
