import {
  celTypes,
  CelRuntimeError,
  CelTypeValue,
  declare,
  member,
  opaqueType,
  plain,
  type CelLibrary,
  type CelValue,
} from '@skerry/cel'
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  QuantityError,
  type Quantity,
} from '@skerry/api'
import { accessing, parsing } from './opaque-costs.ts'
import { opaqueKind, textOf } from './opaque-values.ts'

const { bool, int, double, string } = celTypes
const one = 1_000_000_000n

export const quantities = opaqueKind<Quantity>(
  opaqueType('kubernetes.Quantity'),
  (a, b) => compareQuantities(a, b) === 0,
)
const { type } = quantities

/** Adds quantity(), isQuantity() and arithmetic with quantities. */
export const quantityLibrary: CelLibrary = {
  name: 'kubernetes.quantity',
  constants: {
    'kubernetes.Quantity': {
      type: { kind: 'type', of: type },
      value: new CelTypeValue('kubernetes.Quantity'),
    },
  },
  functions: [
    declare(
      'quantity',
      plain(
        { id: 'string_to_quantity', takes: [string], gives: type },
        (text) => quantities.make(parsed(textOf(text))),
        parsing,
      ),
    ),
    declare(
      'isQuantity',
      plain(
        { id: 'is_quantity_string', takes: [string], gives: bool },
        (text) => isQuantity(textOf(text)),
        parsing,
      ),
    ),
    declare(
      'sign',
      member(
        { id: 'quantity_sign', takes: [type], gives: int },
        (value) => signOf(quantities.read(value).nanos),
        accessing,
      ),
    ),
    ...(['isGreaterThan', 'isLessThan'] as const).map((name) =>
      declare(
        name,
        member(
          {
            id: name === 'isLessThan' ? 'quantity_is_less_than' : 'quantity_is_greater_than',
            takes: [type, type],
            gives: bool,
          },
          (a, b) =>
            compareQuantities(quantities.read(a), quantities.read(b)) ===
            (name === 'isLessThan' ? -1 : 1),
          accessing,
        ),
      ),
    ),
    declare(
      'compareTo',
      member(
        { id: 'quantity_compare_to', takes: [type, type], gives: int },
        (a, b) => BigInt(compareQuantities(quantities.read(a), quantities.read(b))),
        accessing,
      ),
    ),
    declare(
      'asApproximateFloat',
      member(
        { id: 'quantity_get_float', takes: [type], gives: double },
        (value) => Number(quantities.read(value).nanos) / 1e9,
        accessing,
      ),
    ),
    declare(
      'asInteger',
      member(
        { id: 'quantity_get_int', takes: [type], gives: int },
        (value) => {
          const { nanos } = quantities.read(value)
          if (!isInteger(nanos)) throw new CelRuntimeError('cannot convert value to integer')
          return nanos / one
        },
        accessing,
      ),
    ),
    declare(
      'isInteger',
      member(
        { id: 'quantity_is_integer', takes: [type], gives: bool },
        (value) => isInteger(quantities.read(value).nanos),
        accessing,
      ),
    ),
    ...(['add', 'sub'] as const).map((name) =>
      declare(
        name,
        ...[type, int].map((other) =>
          member(
            {
              id: `quantity_${name}${other === int ? '_int' : ''}`,
              takes: [type, other],
              gives: type,
            },
            (a, b) => quantities.make(moved(quantities.read(a), b, name === 'add' ? 1n : -1n)),
            accessing,
          ),
        ),
      ),
    ),
  ],
}

function parsed(text: string): Quantity {
  try {
    return parseQuantity(text)
  } catch (error) {
    if (error instanceof QuantityError) throw new CelRuntimeError(error.message)
    throw error
  }
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text)
    return true
  } catch (error) {
    if (error instanceof QuantityError) return false
    throw error
  }
}

function signOf(value: bigint): bigint {
  return value === 0n ? 0n : value < 0n ? -1n : 1n
}

function isInteger(nanos: bigint): boolean {
  return nanos % one === 0n && BigInt.asIntN(64, nanos / one) === nanos / one
}

function moved(quantity: Quantity, by: CelValue | undefined, sign: bigint): Quantity {
  const nanos = typeof by === 'bigint' ? by * one : quantities.read(by).nanos
  return addQuantities(quantity, { nanos: sign * nanos, format: quantity.format })
}
