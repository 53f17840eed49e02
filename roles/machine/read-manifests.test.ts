import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError, exitCodes } from '@skerry/base'
import { readManifests } from './read-manifests.ts'

async function read(content: string, objectsMax = 100): ReturnType<typeof readManifests> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-manifests-'))
  try {
    const path = join(directory, 'file')
    await writeFile(path, content)
    return await readManifests(path, objectsMax)
  } finally {
    await rm(directory, { recursive: true })
  }
}

const texts = (...list: readonly string[]): string =>
  JSON.stringify(list.map((text, at) => ({ name: `add-on ${at}`, text })))

test('documents are read in order, but namespaces and definitions of kinds come first', async () => {
  const found = await read(
    texts(
      `# a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n---\n`,
      `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: b}\n--- # next\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n`,
      `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: c}}\n- {apiVersion: v1, kind: Secret, metadata: {name: d}}\n`,
    ),
  )
  assert.deepEqual(
    found.map(({ object }) => `${object.kind} ${object.metadata.name}`),
    ['Namespace shop', 'CustomResourceDefinition b', 'ConfigMap a', 'Secret c', 'Secret d'],
  )
})

test('texts without documents have no objects', async () => {
  assert.deepEqual(await read(texts('', '---\n---\n', '# only a comment\n')), [])
})

const object = 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n'
const refused: readonly [what: string, content: string, why: RegExp][] = [
  ['a file that is not JSON', '{', /JSON/],
  ['a file of another shape', '{"a":1}', /expected array/],
  ['bad YAML', texts(`${object}---\na: [\n`), /add-on 0, document 2: .*yaml/],
  ['a list', texts('- a\n'), /add-on 0, document 1: it is not an object/],
  ['no kind', texts('apiVersion: v1\nmetadata: {name: a}\n'), /kind is missing/],
  [
    'no name',
    texts('apiVersion: v1\nkind: Secret\nmetadata: {generateName: a}\n'),
    /metadata\.name is missing/,
  ],
  [
    'a number for a kind',
    texts('apiVersion: v1\nkind: 7\nmetadata: {name: a}\n'),
    /kind is missing/,
  ],
  [
    'an object twice',
    texts(object, object),
    /add-on 1, document 1: Secret a is in add-on 0, document 1/,
  ],
  [
    'aliases without end',
    texts(
      `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from(
        { length: 12 },
        (_, at) =>
          `b${at}: &b${at} [${Array(9)
            .fill(at === 0 ? '*a' : `*b${at - 1}`)
            .join(',')}]`,
      ).join('\n')}\n`,
    ),
    /add-on 0/,
  ],
]
for (const [what, content, why] of refused) {
  test(`${what} is a clear error of its writer`, async () => {
    await assert.rejects(read(content), (error) => {
      assert.ok(error instanceof ExpectedError)
      assert.equal(error.exitCode, exitCodes.usage)
      assert.match(error.message, why)
      return true
    })
  })
}

test('more objects than the bound are refused', async () => {
  const content = texts(object, object.replace('name: a', 'name: b'))
  await assert.rejects(read(content, 1), /have 2 objects, and may have 1/)
})
