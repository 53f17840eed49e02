import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequestInfo } from '@skerry/apiserver'
import { copyUse, type CopyUse } from './plan-way.ts'

const maps = '/api/v1/namespaces/shop/configmaps'
const table: readonly [method: string, target: string, use: CopyUse][] = [
  ['GET', maps, 'if-new'],
  ['GET', `${maps}?resourceVersion=0`, 'if-following'],
  ['GET', `${maps}?resourceVersion=0&limit=500`, 'if-following'],
  ['GET', `${maps}?resourceVersion=7&resourceVersionMatch=NotOlderThan`, 'if-following'],
  ['GET', `${maps}?resourceVersion=7&resourceVersionMatch=Exact`, 'later'],
  ['GET', `${maps}?resourceVersion=7&limit=500`, 'later'],
  ['GET', `${maps}?limit=500`, 'later'],
  ['GET', `${maps}?limit=500&continue=x`, 'later'],
  ['GET', `${maps}?watch=1&resourceVersion=7`, 'if-following'],
  [
    'GET',
    `${maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    'if-following',
  ],
  ['GET', `${maps}/a`, 'never'],
  ['GET', '/api/v1/watch/configmaps', 'never'],
  ['GET', '/api/v1/namespaces/shop/pods/a/log', 'never'],
  ['GET', '/version', 'never'],
  ['POST', maps, 'never'],
  ['DELETE', maps, 'never'],
]

for (const [method, target, use] of table) {
  test(`a copy has this part in ${method} ${target}: ${use}`, () => {
    assert.equal(copyUse(parseRequestInfo(method, target)), use)
  })
}
