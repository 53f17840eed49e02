import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bodyLimits } from '../limits-table.ts'
import { parseYaml } from './yaml.ts'
import { printYaml } from './print-yaml.ts'

const readAgain = (text: string): unknown =>
  parseYaml({ text, limits: bodyLimits, isStrict: true }).value

// YAML 1.1 reads these as something else, and YAML 1.2 some of them (yaml.org/type, sections bool, int, float, null).
const ambiguous = [
  'y',
  'Y',
  'n',
  'on',
  'Off',
  'yes',
  'NO',
  '~',
  'null',
  '0o7',
  '017',
  '1_0',
  '1e3',
  '.inf',
  '12:30',
  '<<',
]
for (const text of ambiguous) {
  test(`the text ${text} stays a text when a client sends it back`, () => {
    const labels = { [text]: text, list: [text] }
    assert.deepEqual(readAgain(printYaml({ labels })), { labels })
  })
}

test('any JSON is read again as it was', () => {
  fc.assert(
    fc.property(
      fc.object({ values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)] }),
      (value) => {
        assert.deepEqual(readAgain(printYaml(value)), JSON.parse(JSON.stringify(value)))
      },
    ),
  )
})
