import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conflictsOf } from './apply-object.ts'
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
