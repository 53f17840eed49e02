import assert from 'node:assert/strict'
import { test } from 'node:test'
import { envText } from './site-options.ts'

test('options stand in one line, in their order', () => {
  const words = [
    '--name',
    'a',
    '--label',
    'example.com/shop=7',
    '--label',
    'empty=',
    '--san',
    '10.0.0.1',
  ]
  assert.equal(envText(words), `SKERRY_ARGS=${words.join(' ')}\n`)
})

/** systemd splits at each of these, expands it, or ends the line or the word with it. */
const odd = [
  ' ',
  '\t',
  '\n',
  '\r',
  '\0',
  '"',
  "'",
  '\\',
  '$',
  '${HOME}',
  '%n',
  '`',
  ';',
  '#',
  '*',
  '~',
  '!',
  '\u00a0',
  '\u2028',
  'é',
]
for (const text of odd) {
  test(`a word with ${JSON.stringify(text)} never reaches systemd`, () => {
    for (const word of [text, `a${text}`, `${text}a`, `a${text}b`]) {
      assert.throws(() => envText(['--name', word]), RangeError)
    }
  })
}

test('an empty word is refused, because systemd would lose it', () => {
  assert.throws(() => envText(['--name', '']), RangeError)
})
