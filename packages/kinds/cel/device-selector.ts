import {
  bindingLibrary,
  CelCompileError,
  createEnvironment,
  objectType,
  typeText,
  type CelEnvironment,
  type CelProgram,
  type CelType,
} from '@skerry/cel'
import { kubernetesLibraries } from './kubernetes-libraries.ts'
import { quantities } from './quantity-library.ts'
import { kindsBounds } from '../limits-table.ts'

const limits = kindsBounds.deviceSelector

export type SelectorProblem =
  | { readonly type: 'invalid'; readonly detail: string }
  | { readonly type: 'too costly' }

/** Returns the problem of an expression that selects devices (KEP-4381), or undefined if there is none. */
export function deviceSelectorProblem(expression: string): SelectorProblem | undefined {
  const program = compile(expression)
  if (typeof program === 'string') return { type: 'invalid', detail: program }
  const { resultType } = program
  if (resultType.kind !== 'bool' && !isAttribute(resultType)) {
    const got = shownType(resultType)
    return { type: 'invalid', detail: `must evaluate to bool or the unknown type, not ${got}` }
  }
  const { max } = program.estimateCost(attributeSize)
  return max > limits.costMax ? { type: 'too costly' } : undefined
}

function compile(expression: string): CelProgram | string {
  try {
    environment ??= makeEnvironment()
    return environment.compile(expression)
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error
    return `compilation failed: ${error.message}`
  }
}

let environment: CelEnvironment | undefined

function text(maxElements: number): CelType {
  return { kind: 'string', maxElements }
}

function sizedMap(key: CelType, value: CelType, maxElements: number): CelType {
  return { kind: 'map', key, value, maxElements }
}

function makeEnvironment(): CelEnvironment {
  const { idBytes, domainBytes, entries } = limits
  const byName = (value: CelType): CelType =>
    sizedMap(text(domainBytes), sizedMap(text(idBytes), value, entries), entries)
  const fields: Record<string, { type: CelType }> = {
    driver: { type: text(limits.driverBytes) },
    allowMultipleAllocations: { type: { kind: 'bool', maxElements: 1 } },
    attributes: { type: byName({ kind: 'dyn', maxElements: limits.valueBytes }) },
    capacity: { type: byName(quantities.type) },
  }
  return createEnvironment({
    variables: { device: objectType('kubernetes.DRADevice') },
    types: { 'kubernetes.DRADevice': { fields } },
    libraries: [...kubernetesLibraries, bindingLibrary],
  })
}

/** Returns the size of an attribute by its name: a value of any type, but never longer than this. */
function attributeSize(path: readonly string[]) {
  const isAttribute = path.length === 4 && path[0] === 'device' && path[1] === 'attributes'
  return isAttribute ? { min: 0, max: limits.valueBytes } : undefined
}

/** An attribute's value has any type. Unlike a value of unknown type, it may be a bool at run time. */
function isAttribute(type: CelType): boolean {
  return type.kind === 'dyn' && type.maxElements === limits.valueBytes
}

/** Names types in upstream's way, which calls the type of attributes Any. */
function shownType(type: CelType): string {
  if (type.kind === 'null') return 'null_type'
  if (type.kind !== 'map') return typeText(type)
  const value = type.value.kind === 'dyn' ? 'google.protobuf.Any' : shownType(type.value)
  return `map(${typeText(type.key)}, ${value})`
}
