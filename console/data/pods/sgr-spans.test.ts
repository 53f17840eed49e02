import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sgrSpans } from './sgr-spans.ts'

const escape = '\u001b'

test('colours and weights become spans', () => {
  const table: readonly (readonly [line: string, spans: readonly (readonly [string, string])[]])[] =
    [
      ['plain', [['plain', '']]],
      [
        `${escape}[31merror${escape}[0m: x`,
        [
          ['error', 'sgr-fg-1'],
          [': x', ''],
        ],
      ],
      [
        `${escape}[1;92mok${escape}[22m!`,
        [
          ['ok', 'sgr-bold sgr-fg-2'],
          ['!', 'sgr-fg-2'],
        ],
      ],
      [
        `${escape}[38;5;3mA${escape}[38;5;200mB${escape}[mC`,
        [
          ['A', 'sgr-fg-3'],
          ['B', ''],
          ['C', ''],
        ],
      ],
      [`${escape}[38;2;1;2;3;1mx`, [['x', 'sgr-bold']]],
      [`${escape}[4;44mx`, [['x', 'sgr-underlined sgr-bg-4']]],
    ]
  for (const [line, spans] of table) {
    const found = sgrSpans(line).map(({ text, style }) => [text, style])
    assert.deepEqual(found, spans, JSON.stringify(line))
  }
})

test('nothing else of a terminal passes: titles, links, movements, and marks that turn the text around', () => {
  const hostile = [
    `${escape}]0;title\u0007`,
    `${escape}]8;;http://evil${escape}\\`,
    `${escape}[2J${escape}[1;1H`,
    `${escape}Pdata${escape}\\`,
    `${escape}c`,
    '\u202e\u2066\u0000\r\u0008\u009b',
  ]
  for (const text of hostile) {
    const shown = sgrSpans(`a${text}b`).map((span) => span.text)
    assert.equal(shown.join(''), 'ab', JSON.stringify(text))
  }
  assert.deepEqual(sgrSpans(`a${escape}`), [{ text: 'a', style: '' }])
})

test('markup in a log is text', () => {
  const line = '<img src=x onerror=alert(1)>\t&amp;'
  assert.deepEqual(sgrSpans(line), [{ text: line, style: '' }])
})
