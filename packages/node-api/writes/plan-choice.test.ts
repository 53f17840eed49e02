import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import type { ConflictSide, ConflictSpec } from '../kinds/conflict.ts'
import { configMap } from '../testing/write-of.ts'
import { planChoice } from './plan-choice.ts'

const kinds = await builtinKinds()
const kind = kinds.find(({ resource }) => resource === 'configmaps')
assert.ok(kind)
const configMapKind = kind

const field = {
  path: '.data.color',
  steps: ['f:data', 'f:color'],
  base: '"red"',
  edge: '"blue"',
  cloud: '"green"',
}

function conflict(own: Partial<ConflictSpec> = {}): ConflictSpec {
  return {
    reason: 'Clash',
    message: '',
    nodeName: 'n1',
    user: 'u',
    operation: 'update',
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      resource: 'configmaps',
      namespace: '',
      name: 'a',
    },
    winner: 'cloud',
    writtenAt: '',
    foundAt: '',
    fields: [field],
    ...own,
  }
}

const plan = (
  spec: ConflictSpec,
  side: ConflictSide,
  current: ReturnType<typeof configMap> | undefined,
  isForced = false,
) => planChoice(spec, { side, isForced }, current, configMapKind)

test('nothing changes for the side that has won', () => {
  assert.deepEqual(plan(conflict(), 'cloud', configMap({ color: 'green' })), { type: 'keep' })
})

test('the other side gets its value at that place alone', () => {
  const current = configMap({ color: 'green', size: 'xl' })
  const want = configMap({ color: 'blue', size: 'xl' })
  assert.deepEqual(plan(conflict(), 'edge', current), { type: 'update', object: want })
})

test('a value that has changed since is overwritten by force only', () => {
  const current = configMap({ color: 'black' })
  assert.deepEqual(plan(conflict(), 'edge', current), {
    type: 'refuse',
    why: '.data.color changed since; --force overwrites the change',
  })
  const want = configMap({ color: 'blue' })
  assert.deepEqual(plan(conflict(), 'edge', current, true), { type: 'update', object: want })
})

test('an object that one side deleted is made again, or deleted', () => {
  const edge = JSON.stringify(configMap({ color: 'blue' }))
  const whole = { path: '.', edge }
  const made = plan(conflict({ fields: [whole] }), 'edge', undefined)
  assert.equal(made.type, 'create')
  assert.ok(made.type === 'create')
  assert.deepEqual(made.object.metadata, { name: 'a', namespace: 'shop' })
  const cloud = { path: '.', cloud: edge }
  const gone = plan(conflict({ fields: [cloud], winner: 'cloud' }), 'edge', configMap({}))
  assert.deepEqual(gone, { type: 'delete' })
})

test('an object of the same name that is another one is overwritten by force only', () => {
  const values = {
    path: '.',
    edge: JSON.stringify(configMap({ color: 'blue' })),
    cloud: JSON.stringify(configMap({ color: 'green' }, { uid: 'u2' })),
  }
  const spec = conflict({ fields: [values] })
  const current = configMap({ color: 'black' }, { uid: 'u3', resourceVersion: '9' })
  assert.equal(plan(spec, 'edge', current).type, 'refuse')
  const forced = plan(spec, 'edge', current, true)
  assert.deepEqual(forced, {
    type: 'update',
    object: configMap({ color: 'blue' }, { uid: 'u3', resourceVersion: '9' }),
  })
})

test('a damaged write has no value to choose', () => {
  assert.equal(plan(conflict({ reason: 'Damaged' }), 'edge', undefined).type, 'refuse')
})
