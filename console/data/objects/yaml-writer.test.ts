import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { writeYaml } from './yaml-writer.ts'

test('objects look as people write them', () => {
  const object = {
    apiVersion: 'v1',
    metadata: { name: 'a', labels: { x: 'y', n: '1', 'a.b/c': 'on' }, annotations: {} },
    data: { file: 'one\n  two\n', kept: 'a\n\n', cut: 'a\nb' },
    items: [{ name: 'c', args: ['-v', '--x=y', 'a: b', ''] }, [1, null], []],
  }
  assert.equal(
    writeYaml(object),
    `apiVersion: v1
metadata:
  name: a
  labels:
    x: "y"
    "n": "1"
    a.b/c: "on"
  annotations: {}
data:
  file: |
    one
      two
  kept: |+
    a

  cut: |-
    a
    b
items:
- name: c
  args:
  - "-v"
  - "--x=y"
  - "a: b"
  - ""
- - 1
  - null
- []
`,
  )
})

test('every value is read back as it was, by YAML 1.1 and 1.2', () => {
  const odd = fc.constantFrom(
    'y',
    'No',
    '1e3',
    '0x1f',
    '012',
    '~',
    '- a',
    '? b',
    ': c',
    '# d',
    'a #b',
    'x:',
    '=',
    '<<',
    '2001-01-01',
    '1:30',
    '.5',
    '_1',
    '\u0085',
    '\u2028',
    '\u202e',
    'a\n b\n',
    '\n',
    ' \n',
    'a\t\nb',
    '---',
    '...',
    'a\n---\nb',
    '%x',
    '@x',
    '`x',
    '|',
    '>',
    '!x',
    '&x',
    '*x',
  )
  const text = fc.oneof(
    odd,
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom('a', ' ', '\n', ':', '#', '-', '"', '\t'), maxLength: 8 }),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        text.filter((key) => key !== '__proto__' && key !== '<<'),
        tie('value'),
        { maxKeys: 4, noNullPrototype: true },
      ),
    ),
  }))
  fc.assert(
    fc.property(value, (each) => {
      for (const version of ['1.1', '1.2'] as const) {
        const read: unknown = parse(writeYaml(each), { version })
        assert.deepEqual(read, each, `${version}: ${writeYaml(each)}`)
      }
    }),
    { numRuns: 2_000 },
  )
})
