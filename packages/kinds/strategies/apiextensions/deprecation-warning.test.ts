import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deprecationWarningFaults } from './deprecation-warning.ts'

const unprintable =
  'must only contain printable UTF-8 characters; non-printable character found at index'

const cases: readonly [what: string, warning: string, faults: readonly string[]][] = [
  ['plain words', 'use x.io/v2', []],
  ['another language', 'x.io/v1 ist veraltet – bitte v2 ☃', []],
  ['nothing', '', ['must not be an empty string']],
  ['as many bytes as it may have', 'é'.repeat(128), []],
  ['more bytes than it may have', 'é'.repeat(129), ['must be <= 256 characters long']],
  ['a NUL', 'x\0y', [`${unprintable} 1`]],
  ['a line break behind two bytes', 'é\r\ny', [`${unprintable} 2`]],
  ['a control character above ASCII', 'x\u0085', [`${unprintable} 1`]],
  ['a space that is not printed', 'x\u00a0', [`${unprintable} 1`]],
]

test('a version is deprecated with a text that can stand in a header', () => {
  for (const [what, warning, faults] of cases) {
    assert.deepEqual(deprecationWarningFaults(true, warning), faults, what)
  }
  const faults = deprecationWarningFaults(false, 'use x.io/v2')
  assert.deepEqual(faults, ['can only be set for deprecated versions'])
})
