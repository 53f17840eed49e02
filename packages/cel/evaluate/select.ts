import { CelRuntimeError } from '../language/cel-errors.ts'
import { CelOptional, CelUint, type CelList, type CelValue } from '../language/cel-value.ts'
import { isList, isMap, isObject } from '../values/kinds.ts'

export interface Selection {
  /** True for a selection with `?`, where a missing value is not an error. */
  readonly isOptional: boolean
}

/** Plans `operand.key` or `operand[key]`. A selection from an optional is itself an optional. */
export function select(operand: CelValue, key: CelValue, { isOptional }: Selection): CelValue {
  if (operand instanceof CelOptional) {
    if (operand.value === undefined) return operand
    const { value } = operand
    if (!isMap(value) && !isObject(value) && !isList(value)) {
      throw new CelRuntimeError(`no such key: ${keyText(key)}`)
    }
    return new CelOptional(find(operand.value, key))
  }
  const found = find(operand, key)
  if (isOptional) return new CelOptional(found)
  if (found !== undefined) return found
  if (isList(operand)) throw indexError(operand, key)
  throw new CelRuntimeError(`no such key: ${keyText(key)}`)
}

/** Plans has(operand.key). */
export function isPresent(operand: CelValue, key: string): boolean {
  if (operand instanceof CelOptional) {
    return operand.value !== undefined && isPresent(operand.value, key)
  }
  return find(operand, key) !== undefined
}

function find(operand: CelValue, key: CelValue): CelValue | undefined {
  if (isObject(operand)) return typeof key === 'string' ? operand.get(key) : undefined
  if (isMap(operand)) return operand.get(key)
  if (!isList(operand)) return undefined
  const index = indexOf(key)
  return index === undefined || index < 0 || index >= operand.size ? undefined : operand.at(index)
}

function indexOf(key: CelValue): number | undefined {
  if (typeof key === 'bigint') return Number(key)
  if (key instanceof CelUint) return Number(key.value)
  return typeof key === 'number' && Number.isInteger(key) ? key : undefined
}

function indexError(_list: CelList, key: CelValue): CelRuntimeError {
  const index = indexOf(key)
  if (index === undefined) return new CelRuntimeError('unsupported index type in list')
  return new CelRuntimeError(`index out of bounds: ${index}`)
}

export function keyText(key: CelValue): string {
  if (key instanceof CelUint) return String(key.value)
  return typeof key === 'object' ? 'key' : String(key)
}
