import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequestInfo } from '@skerry/apiserver'
import { askedRight, parseRightKey, rightKey, sufficientRights } from './asked-right.ts'

const user = (name: string, groups: string[] = []) => ({ name, groups, extra: {} })
const rightTo = (target: string) => askedRight(parseRequestInfo('GET', target))
const contains = (wide: string, narrow: string): boolean =>
  sufficientRights(rightTo(narrow)).some(
    (each) => rightKey(user('a'), each) === rightKey(user('a'), rightTo(wide)),
  )

const shop = '/api/v1/namespaces/shop/configmaps'
const rows: readonly [wide: string, narrow: string, isContained: boolean][] = [
  [shop, shop, true],
  ['/api/v1/configmaps', shop, true],
  [shop, '/api/v1/configmaps', false],
  [shop, '/api/v1/namespaces/other/configmaps', false],
  [shop, `${shop}?fieldSelector=metadata.name%3Da`, true],
  [`${shop}?fieldSelector=metadata.name%3Da`, shop, false],
  [`${shop}?fieldSelector=metadata.name%3Da`, `${shop}?fieldSelector=metadata.name%3Db`, false],
  [`${shop}/a`, `${shop}/a`, true],
  [`${shop}/a`, `${shop}/b`, false],
  [shop, `${shop}?watch=1`, false],
  [shop, `${shop}/a`, false],
  [shop, '/api/v1/namespaces/shop/secrets', false],
  ['/apis/apps/v1/namespaces/shop/deployments', '/apis/apps/v1/namespaces/shop/deployments', true],
  [`${shop}/a`, `${shop}/a/status`, false],
  [`${shop}/a/status`, `${shop}/a`, false],
  [`${shop}/a/status`, `${shop}/a/status`, true],
  ['/version', '/version', true],
  ['/api', '/apis', false],
]

for (const [wide, narrow, isContained] of rows) {
  test(`the right to ${wide} ${isContained ? 'contains' : 'does not contain'} ${narrow}`, () => {
    assert.equal(contains(wide, narrow), isContained)
  })
}

test('rights of one user are not those of another, nor of the same name in other groups', () => {
  const right = rightTo(shop)
  const keys = [user('a'), user('b'), user('a', ['x'])].map((each) => rightKey(each, right))
  assert.equal(new Set(keys).size, 3)
  assert.deepEqual(parseRightKey(keys[0] ?? ''), right)
  const log = rightTo('/api/v1/namespaces/shop/pods/web/log')
  assert.equal(log.subresource, 'log')
  assert.deepEqual(parseRightKey(rightKey(user('a'), log)), log)
})
