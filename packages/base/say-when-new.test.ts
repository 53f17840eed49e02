import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sayWhenNew } from './say-when-new.ts'

test('a state is said once for as long as it lasts, and again when it has come back', () => {
  const said: string[] = []
  const say = sayWhenNew<{ node: string; reason: string }>(({ node, reason }) => {
    said.push(`${node} ${reason}`)
  })
  const a = { node: 'a', reason: 'taken' }
  say([a, { ...a }])
  say([{ ...a }, { node: 'b', reason: 'taken' }])
  assert.deepEqual(said, ['a taken', 'b taken'])
  say([{ ...a, reason: 'invalid' }])
  assert.deepEqual(said.slice(2), ['a invalid'])
  say([])
  say([a])
  assert.deepEqual(said.slice(3), ['a taken'])
})
