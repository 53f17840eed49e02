import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applySeen, conflictsOf, presentYaml } from './apply-object.ts'
import { readWarnings } from '../hub/warning-header.ts'
import { errorOfAnswer } from '../hub/hub-error.ts'

test('a conflict names each field and its manager', () => {
  const body = JSON.stringify({
    kind: 'Status',
    reason: 'Conflict',
    message: 'Apply failed with 1 conflict',
    details: {
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "kubectl"',
          field: '.spec.replicas',
        },
        { reason: 'FieldValueInvalid', message: 'no', field: '.spec.x' },
      ],
    },
    code: 409,
  })
  const error = errorOfAnswer(body, { code: 409, requestId: 'r-1' })
  assert.deepEqual(conflictsOf(error), [
    { field: '.spec.replicas', message: 'conflict with "kubectl"' },
  ])
  assert.equal(error.facts.requestId, 'r-1')
  assert.deepEqual(conflictsOf(errorOfAnswer('gone', { code: 404 })), [])
})

test('warnings are read out of their header', () => {
  const header = '299 - "spec.x: deprecated, use \\"y\\"", 299 - "second"'
  assert.deepEqual(readWarnings(header), ['spec.x: deprecated, use "y"', 'second'])
  assert.deepEqual(readWarnings(''), [])
})

test('an answer that is not a Status becomes an error with its text', () => {
  const error = errorOfAnswer('<html>bad gateway</html>', { code: 502, retryAfter: '7' })
  assert.equal(error.message, '<html>bad gateway</html>')
  assert.ok(error.isAway)
  assert.equal(error.facts.retryAfterSeconds, 7)
})

test('a change is not applied to an object that has changed since its difference was looked at', async (t) => {
  const { fetch } = globalThis
  t.after(() => (globalThis.fetch = fetch))
  let data = 'one'
  const applied: unknown[] = []
  globalThis.fetch = async (_, { method, body } = {}) => {
    if (method === 'PATCH') applied.push(body)
    return Response.json({
      metadata: { name: 'menu', resourceVersion: data },
      data: { page: data },
    })
  }
  const wish = { path: '/api/v1/namespaces/shop/configmaps/menu', yaml: 'mine', isForced: false }
  const seen = await presentYaml(wish.path)
  data = 'two'
  assert.equal(await applySeen(wish, seen), false)
  assert.deepEqual(applied, [])
  assert.equal(await applySeen(wish, await presentYaml(wish.path)), true)
  assert.deepEqual(applied, ['mine'])
})
