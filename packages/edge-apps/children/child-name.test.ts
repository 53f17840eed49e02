import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameFault } from './child-name.ts'

test('a StatefulSet whose pods could not have its revision as a label is refused', () => {
  assert.equal(nameFault('StatefulSet', 'a'.repeat(52)), undefined)
  assert.match(nameFault('StatefulSet', 'a'.repeat(53)) ?? '', /no more than 52 characters/)
  assert.equal(nameFault('Deployment', 'a'.repeat(53)), undefined)
  assert.match(nameFault('StatefulSet', 'web-north.hall') ?? '', /must not contain dots/)
})
