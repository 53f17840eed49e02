import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filled, labelsOf, numberOf, wordsOf } from './form-values.ts'

test('empty fields are left out, and a wrong number is sent as it was typed', () => {
  const fields = filled({ a: '', b: undefined, c: {}, d: [], e: false, f: numberOf('x7') })
  assert.deepEqual(fields, { d: [], e: false, f: 'x7' })
  assert.deepEqual([numberOf(' 22 '), numberOf('')], [22, undefined])
})

test('words and labels may be separated as people separate them', () => {
  assert.deepEqual(wordsOf('10.0.0.1, 10.0.0.2\n10.0.0.3'), ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
  assert.deepEqual(labelsOf('tier=front;shop=7, edge'), { tier: 'front', shop: '7', edge: '' })
  assert.deepEqual([wordsOf(' , '), labelsOf('')], [undefined, undefined])
})
