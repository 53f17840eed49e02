import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from 'commander'
import { collectTaint } from './node-flags.ts'

const taints: readonly [string, object][] = [
  ['dedicated=video:NoSchedule', { key: 'dedicated', value: 'video', effect: 'NoSchedule' }],
  ['example.com/gpu:NoExecute', { key: 'example.com/gpu', effect: 'NoExecute' }],
  ['a=:PreferNoSchedule', { key: 'a', effect: 'PreferNoSchedule' }],
]
for (const [text, taint] of taints) {
  test(`${text} is a taint`, () => assert.deepEqual(collectTaint(text, []), [taint]))
}

for (const text of [
  '',
  'a',
  'a=b',
  ':NoSchedule',
  '=b:NoSchedule',
  'a=b:Never',
  'a b:NoSchedule',
  'a=b c:NoSchedule',
  'a/b/c:NoSchedule',
  'a=b=c:NoSchedule',
]) {
  test(`${JSON.stringify(text)} is not a taint`, () => {
    assert.throws(() => collectTaint(text, []), InvalidArgumentError)
  })
}

test('a key has each effect once', () => {
  const one = collectTaint('a=b:NoSchedule', [])
  assert.equal(collectTaint('a=b:NoExecute', one).length, 2)
  assert.throws(() => collectTaint('a=c:NoSchedule', one), /there is a taint a:NoSchedule already/)
})
