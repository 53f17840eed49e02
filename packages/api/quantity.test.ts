import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  QuantityError,
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityToFloat,
  quantityToMilli,
  quantityToNumber,
  subtractQuantities,
} from './quantity.ts'

/** The answers of Kubernetes 1.36 in a ResourceQuota's spec.hard. */
const canonical: Record<string, string> = {
  '0': '0',
  '0Mi': '0',
  '0.0': '0',
  '-0': '0',
  '1': '1',
  '1.5': '1500m',
  '1.500': '1.500',
  '0.5': '500m',
  '.5': '500m',
  '1.': '1.',
  '100m': '100m',
  '1000m': '1',
  '1024Mi': '1Gi',
  '1.5Gi': '1536Mi',
  '0.5Gi': '512Mi',
  '512Ki': '512Ki',
  '1023': '1023',
  '1000': '1k',
  '1500': '1500',
  '1000000': '1M',
  '12e6': '12e6',
  '1e3': '1e3',
  '1E3': '1E3',
  '1000e3': '1e6',
  '12E': '12E',
  '0.1n': '1n',
  '1.1Ki': '1126400m',
  '0.001Ki': '1024m',
  '1u': '1u',
  '+1': '+1',
  '007': '007',
  '2048Ki': '2Mi',
  '1100Mi': '1100Mi',
  '-1.5': '-1500m',
  '8Ei': '9223372036854775807',
  '123456789012345678901': '123456789012345678901',
  '0.0001': '100u',
  '1e-3': '1e-3',
  '10e2': '1e3',
}

test('a quantity is written back as upstream writes it', () => {
  for (const [text, want] of Object.entries(canonical)) {
    assert.equal(canonicalQuantity(text), want, text)
  }
})

test('a text that is not a quantity is refused', () => {
  for (const text of [
    '',
    'x',
    '1x',
    '1.2.3',
    '1ee3',
    '1 Mi',
    '1mm',
    '1Kii',
    '1e999999999',
    '--1',
  ]) {
    assert.throws(() => parseQuantity(text), QuantityError, text)
  }
})

test('sums are exact and keep the format of the first that is not zero', () => {
  const sum = (a: string, b: string): string =>
    formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)))
  assert.equal(sum('1Gi', '512Mi'), '1536Mi')
  assert.equal(sum('0', '1Gi'), '1Gi')
  assert.equal(sum('100m', '900m'), '1')
  assert.equal(sum('9007199254740993', '1'), '9007199254740994')
  const rest = subtractQuantities(parseQuantity('1'), parseQuantity('100m'))
  assert.equal(formatQuantity(rest), '900m')
})

test('conversions to numbers round away from zero', () => {
  assert.equal(quantityToMilli('1.5'), 1500)
  assert.equal(quantityToMilli('1u'), 1)
  assert.equal(quantityToMilli('-1u'), -1)
  assert.equal(quantityToNumber('1Ki'), 1024)
  assert.equal(quantityToNumber('100m'), 1)
  assert.equal(quantityToFloat('100m'), 0.1)
})

const anyQuantity = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
    fc.constantFrom('DecimalSI', 'BinarySI', 'DecimalExponent'),
  )
  .map(([nanos, format]) => ({ nanos, format }) as const)

test('a formatted quantity parses to the same value, and formatting again changes nothing', () => {
  fc.assert(
    fc.property(anyQuantity, (quantity) => {
      const text = formatQuantity(quantity)
      assert.equal(parseQuantity(text).nanos, quantity.nanos)
      assert.equal(canonicalQuantity(text), text)
    }),
  )
})

test('adding then subtracting gives back the value, and comparing follows the numbers', () => {
  fc.assert(
    fc.property(anyQuantity, anyQuantity, (a, b) => {
      assert.equal(subtractQuantities(addQuantities(a, b), b).nanos, a.nanos)
      assert.equal(compareQuantities(a, b), a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0)
    }),
  )
})
