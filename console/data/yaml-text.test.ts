import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutManagedFields } from './yaml-text.ts'

test('the book of managers is left out of an object, however its list is indented', () => {
  for (const indent of ['  ', '    ']) {
    const yaml = [
      'apiVersion: v1',
      'metadata:',
      '  labels:',
      '    app: web',
      '  managedFields:',
      `${indent}- apiVersion: v1`,
      `${indent}  fieldsV1:`,
      `${indent}    f:data: {}`,
      '  name: a',
      'spec:',
      '  managedFields: mine',
      '',
    ].join('\n')
    const expected =
      'apiVersion: v1\nmetadata:\n  labels:\n    app: web\n  name: a\nspec:\n  managedFields: mine\n'
    assert.equal(withoutManagedFields(yaml), expected)
  }
})
