import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expandAddresses } from './address-range.ts'

test('a range stands for its addresses, and every other text for itself', () => {
  assert.deepEqual(expandAddresses('10.0.0.[9-11]'), ['10.0.0.9', '10.0.0.10', '10.0.0.11'])
  assert.deepEqual(expandAddresses('shop-[08-09].example'), ['shop-08.example', 'shop-09.example'])
  for (const text of ['10.0.0.1', '10.0.0.[4-2]', '10.0.0.[1-99999]', '[a-b]']) {
    assert.deepEqual(expandAddresses(text), [text])
  }
})
