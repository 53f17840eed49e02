import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isStatusError } from '../status-error.ts'
import { matchesFields, parseFieldSelector, printFieldSelector } from './field-selector.ts'

test('a field selector is split, unescaped and sorted', () => {
  const cases: [string, [string, string, string][]][] = [
    ['', []],
    ['a=b', [['a', '=', 'b']]],
    [',spec.x==b,', [['spec.x', '=', 'b']]],
    [
      'b!=,a=1',
      [
        ['a', '=', '1'],
        ['b', '!=', ''],
      ],
    ],
    ['a=x\\,y\\=z\\\\', [['a', '=', 'x,y=z\\']]],
  ]
  for (const [text, want] of cases) {
    const got = parseFieldSelector(text).map((item) => [item.field, item.operator, item.value])
    assert.deepEqual(got, want, text)
  }
})

test("a malformed field selector is refused in upstream's words", () => {
  const cases: Record<string, string> = {
    'metadata.name': "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    'metadata.name=a\\b': 'invalid field selector: invalid escape sequence: \\b',
    'metadata.name=a=b': 'invalid field selector: unescaped character in value: 61',
    'metadata.name=a\\': 'invalid field selector: invalid escape sequence: \\',
  }
  for (const [text, message] of Object.entries(cases)) {
    assert.throws(
      () => parseFieldSelector(text),
      (error) => isStatusError(error, 'BadRequest') && error.message === message,
    )
  }
})

test('all terms must hold; a missing field is the empty string', () => {
  const valueOf = (field: string): string => (field === 'spec.nodeName' ? 'n1' : '')
  assert.ok(matchesFields(parseFieldSelector('spec.nodeName=n1,status.phase!=Failed'), valueOf))
  assert.ok(!matchesFields(parseFieldSelector('spec.nodeName!=n1'), valueOf))
  assert.ok(matchesFields(parseFieldSelector('status.phase='), valueOf))
})

test('any value survives printing and parsing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      const requirement = { field: 'metadata.name', operator: '=', value } as const
      assert.deepEqual(parseFieldSelector(printFieldSelector([requirement])), [requirement])
    }),
  )
})
