import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { createNamespaceRule } from './namespace-rule.ts'

test('a namespace is called after its virtual cluster', () => {
  const long = 'n'.repeat(63)
  const table: [pattern: string | undefined, namespace: string, wanted: RegExp | string][] = [
    [undefined, 'edge', 'edge-east'],
    [undefined, 'default', 'default-east'],
    [undefined, 'my-app', 'my--app-east'],
    ['{cluster}-{namespace}', 'my-app', 'east-my--app'],
    ['vc-{cluster}-{namespace}', 'edge', 'vc-east-edge'],
    [undefined, long, /^n{44}---[0-9a-f]{16}$/],
    ['vc-{namespace}-{cluster}-x', long, /^vc-n{39}---[0-9a-f]{16}-x$/],
    [undefined, `${'n'.repeat(43)}-m${'n'.repeat(18)}`, /^n{43}---[0-9a-f]{16}$/],
  ]
  for (const [pattern, namespace, wanted] of table) {
    const rule = createNamespaceRule({ clusterName: 'east', ...(pattern ? { pattern } : {}) })
    const name = rule.toMember(namespace)
    if (typeof wanted === 'string') assert.equal(name, wanted)
    else assert.match(name, wanted)
    assert.equal(rule.toMember(namespace), name, 'it is the same each time')
  }
})

test('impossible names are refused', () => {
  const rule = createNamespaceRule({ clusterName: 'east' })
  for (const name of ['kube-system', 'kube-public', 'Shop', '', 'a_b', 'n'.repeat(64)]) {
    assert.throws(() => rule.toMember(name), { name: 'MappingRefusal' }, name)
  }
  const kube = createNamespaceRule({ clusterName: 'kube-a', pattern: '{cluster}-{namespace}' })
  assert.throws(() => kube.toMember('shop'), /choose another pattern/)
  for (const pattern of [
    '{namespace}',
    '{namespace}-{namespace}',
    '{namespace}{cluster}',
    '-{namespace}-{cluster}',
    '{namespace}-{cluster}_',
    `${'x'.repeat(44)}{namespace}-{cluster}`,
  ]) {
    assert.throws(() => createNamespaceRule({ clusterName: 'east', pattern }), RangeError, pattern)
  }
  assert.throws(() => createNamespaceRule({ clusterName: 'East' }), RangeError)
})

const seed = 20_261_122

test(`two virtual clusters never mean the same name (seed ${seed})`, () => {
  const random = seededRandom(seed)
  const below = (bound: number) => Math.floor(random.next() * bound)
  // Uses few letters and many dashes, so that names nearly collide.
  const word = (most: number) => {
    const middle = Array.from({ length: below(most) }, () => 'ab--'[below(4)] ?? '').join('')
    return `a${middle}b`
  }
  for (const pattern of [
    '{namespace}-{cluster}',
    '{cluster}-{namespace}',
    'a-{namespace}-{cluster}',
  ]) {
    const owners = new Map<string, string>()
    for (let turn = 0; turn < 20_000; turn += 1) {
      const clusterName = word(turn % 10 === 0 ? 45 : 6)
      const namespace = word(turn % 10 === 1 ? 60 : 6)
      const name = createNamespaceRule({ clusterName, pattern }).toMember(namespace)
      const owner = `${namespace} of ${clusterName}`
      assert.equal(owners.get(name) ?? owner, owner, name)
      assert.match(name, /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
      owners.set(name, owner)
    }
  }
})
