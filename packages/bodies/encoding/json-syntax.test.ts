import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonSyntaxError } from './json-syntax.ts'

const end = 'unexpected end of JSON input'

const cases: readonly (readonly [string, string])[] = [
  ['', end],
  [' \t\r\n', end],
  ['{"a":[1', end],
  ['"a', end],
  ['-', end],
  ['1e+', end],
  ['nul', end],
  [String.raw`"\u12`, end],
  ['x', `invalid character 'x' looking for beginning of value`],
  ['[1,]', `invalid character ']' looking for beginning of value`],
  ['{"a":}', `invalid character '}' looking for beginning of value`],
  ['é', `invalid character 'Ã' looking for beginning of value`],
  ["'a'", String.raw`invalid character '\'' looking for beginning of value`],
  ['1"', `invalid character '"' after top-level value`],
  ['01', `invalid character '1' after top-level value`],
  ['{}x', `invalid character 'x' after top-level value`],
  ['{a:1}', `invalid character 'a' looking for beginning of object key string`],
  ['{"a":1,}', `invalid character '}' looking for beginning of object key string`],
  ['{"a" 1}', `invalid character '1' after object key`],
  ['{"a":[] "b"}', `invalid character '"' after object key:value pair`],
  ['[{} 1]', `invalid character '1' after array element`],
  ['"\n"', String.raw`invalid character '\n' in string literal`],
  [String.raw`"\x"`, `invalid character 'x' in string escape code`],
  [String.raw`"\u12g4"`, String.raw`invalid character 'g' in \u hexadecimal character escape`],
  ['-x', `invalid character 'x' in numeric literal`],
  ['1.x', `invalid character 'x' after decimal point in numeric literal`],
  ['1e x', `invalid character ' ' in exponent of numeric literal`],
  ['trux', `invalid character 'x' in literal true (expecting 'e')`],
]
for (const [text, words] of cases) {
  test(`a client that sends ${JSON.stringify(text)} as JSON reads: ${words}`, () => {
    assert.throws(() => void JSON.parse(text), SyntaxError)
    assert.equal(jsonSyntaxError(text), words)
  })
}

test('a text may nest deeper than calls can, and its mistake is still found', () => {
  assert.equal(jsonSyntaxError(`${'['.repeat(200_000)}x`), cases[8]?.[1])
})

test('the reader accepts each text that is JSON, and points at a character in any other', () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const signs = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '\\',
    '0',
    '1',
    '-',
    '.',
    'e',
    'true',
    ' ',
  ]
  const pieces = fc.constantFrom(...signs)
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
    fc.json(),
  )
  fc.assert(
    fc.property(texts, (text) => {
      // The NUL at the end is the first mistake after a complete value; any other text fails before it or at it.
      const words = jsonSyntaxError(`${text} \u0000`)
      const isWhole = words === String.raw`invalid character '\x00' after top-level value`
      assert.equal(isWhole, isJson(text), words)
    }),
    { numRuns: 5_000 },
  )
})
