import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteOf } from './report-unschedulable.ts'

test('a message is cut to the length of an event, and stays text', () => {
  assert.equal(noteOf('no room'), 'no room')
  assert.equal(noteOf('a'.repeat(1024)), 'a'.repeat(1024))
  assert.equal(noteOf('a'.repeat(1025)), `${'a'.repeat(1020)} ...`)
  assert.equal(noteOf(`a${'é'.repeat(600)}`), `a${'é'.repeat(509)} ...`)
})
