import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectPage, readObjectPage } from '../hub/api-paths.ts'
import { pathWord } from './path-words.ts'

/** Does what the router does with the path of a page. */
function paramsOf(page: string): Readonly<Record<string, string>> {
  const words = decodeURI(page).split('/').slice(2).map(pathWord)
  const names = ['cluster', 'group', 'version', 'resource', 'namespace', 'name']
  return Object.fromEntries(names.map((name, at) => [name, words[at] ?? '']))
}

test('the page of an object whose name has a colon or other signs is that of the object', () => {
  const role = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
  for (const name of ['system:basic-user', 'a+b@c', 'x=y&z;$,', 'till.1~2', '边缘']) {
    const object = { ...role, name }
    const params = paramsOf(objectPage('edge', object))
    assert.deepEqual(readObjectPage(params), { cluster: 'edge', object })
  }
})

test('an address that was written by hand has words, too', () => {
  assert.equal(pathWord('100%'), '100%')
  assert.equal(pathWord('%E0%A4%A'), '%E0%A4%A')
})
