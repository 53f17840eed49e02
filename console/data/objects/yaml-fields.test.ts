import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KindSchema } from './open-api.ts'
import { yamlCompletion, yamlFindings, yamlKind } from './yaml-fields.ts'

const container = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    image: { type: 'string' },
    pull: { type: 'string', enum: ['Always', 'Never'] },
    tty: { type: 'boolean' },
    ports: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer' } } } },
  },
}
const root = {
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    spec: {
      type: 'object',
      properties: {
        containers: { type: 'array', items: container },
        modes: { type: 'array', items: { type: 'string', enum: ['Read', 'Write'] } },
        anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
}
const kind: KindSchema = { document: {}, root }

const names = ['image', 'name', 'ports', 'pull', 'tty']
const without = (...others: string[]) => names.filter((name) => !others.includes(name))

/** The bar is the cursor. */
const completions: readonly (readonly [text: string, offered: readonly string[] | undefined])[] = [
  ['|', ['apiVersion', 'kind', 'metadata', 'spec']],
  ['kind: Pod\n|', ['apiVersion', 'metadata', 'spec']],
  ['metadata:\n  |', ['labels', 'name']],
  ['metadata:\n  la|', ['labels', 'name']],
  ['metadata:\n  la|bels:\n    a: b\n', ['labels', 'name']],
  ['metadata:\n  labels:\n    |', []],
  ['spec:\n  containers:\n  - |', names],
  ['spec:\n  containers:\n  - name: a\n    |', without('name')],
  ['spec:\n  containers:\n  - name: a\n    i|\n    tty: true\n', without('name', 'tty')],
  ['spec:\n  containers:\n    - name: a\n      ports:\n        - |\n', ['port']],
  ['spec:\n  containers:\n  - "name": a\n    |', without('name')],
  ['spec:\n  containers:\n  - pull: |', ['Always', 'Never']],
  ['spec:\n  containers:\n  - pull: Al|', ['Always', 'Never']],
  ['spec:\n  containers:\n  - name: a\n    tty: |\n', ['true', 'false']],
  ['spec:\n  modes:\n  - |', ['Read', 'Write']],
  ['spec:\n  containers:\n  - image: |', undefined],
  ['metadata:\n  name: >\n    te|\n', undefined],
  ['# a com|', undefined],
  ['unknown:\n  |', []],
]

for (const [marked, offered] of completions) {
  test(`in ${JSON.stringify(marked)} the editor offers ${offered?.join(', ') ?? 'nothing'}`, () => {
    const at = marked.indexOf('|')
    const found = yamlCompletion(marked.replace('|', ''), at, kind)
    const labels = found && [...found.fields.map(({ name }) => name), ...found.values]
    assert.deepEqual(labels, offered)
  })
}

test('a completion knows where its word begins, how deep it stands, and whether it has a colon', () => {
  const text = 'spec:\n  containers:\n  - ima'
  const { from, column, hasColon } = yamlCompletion(text, text.length, kind) ?? {}
  assert.deepEqual([from, column, hasColon], [text.length - 3, 4, false])
  assert.equal(yamlCompletion('kind: Pod\n', 2, kind)?.hasColon, true)
})

const findings: readonly (readonly [text: string, found: readonly string[]])[] = [
  ['kind: Pod\nspec:\n  containers: []\n', []],
  ['spce: {}\n', ['spce: spce']],
  ['spec:\n  containers:\n  - imgae: a\n    name: b\n', ['imgae: spec.containers[].imgae']],
  ['spec: {containers: [{name: a, imge: b}]}\n', ['imge: spec.containers[].imge']],
  ['spec:\n  contaners:\n  - nme: a\n', ['contaners: spec.contaners']],
  ['spec:\n  containers:\n  - pull: Sometimes\n', ['Sometimes: spec.containers[].pull']],
  ['spec:\n  containers:\n  - pull: "Always"\n    tty: yes\n', ['yes: spec.containers[].tty']],
  ['metadata:\n  labels:\n    any: thing\nspec:\n  anything:\n    at: all\n', []],
  ['metadata:\n  name: |\n    spce: no field\n', []],
  ['spec:\n  containers:\n  - pull:\n', []],
  ['constructor: 1\n', ['constructor: constructor']],
  ['}{ ]\n- -\n', []],
]

for (const [text, found] of findings) {
  test(`in ${JSON.stringify(text)} it finds ${found.join(', ') || 'nothing odd'}`, () => {
    const lines = yamlFindings(text, kind).map(
      ({ from, to, path }) => `${text.slice(from, to)}: ${path}`,
    )
    assert.deepEqual(lines, found)
  })
}

test('an object of ten thousand unknown fields has no more findings than a person reads', () => {
  const text = Array.from({ length: 10_000 }, (_, at) => `field${at}: 1\n`).join('')
  assert.equal(yamlFindings(text, kind).length, 50)
})

test('the kind of an object is that of its first level', () => {
  const text = 'apiVersion: apps/v1\nkind: "Deployment"\nspec:\n  kind: Other\n'
  assert.deepEqual(yamlKind(text), { apiVersion: 'apps/v1', kind: 'Deployment' })
  assert.deepEqual(yamlKind('spec:\n  kind: Other\n'), { apiVersion: '', kind: '' })
})
