import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequestInfo } from './request-info.ts'
import { requestAttributes } from './request-attributes.ts'

const pods = '/api/v1/namespaces/a/pods'
const mine = 'fieldSelector=metadata.name%3Dmine'

const attributesOf = (method: string, target: string) =>
  requestAttributes(parseRequestInfo(method, target))

test('a field selector names an object for get, list and watch only', () => {
  const table: readonly [method: string, target: string, verb: string, name: string][] = [
    ['GET', `${pods}?${mine}`, 'list', 'mine'],
    ['HEAD', `${pods}?${mine}`, 'list', 'mine'],
    ['GET', `${pods}?watch=1&${mine}`, 'watch', 'mine'],
    ['GET', `${pods}?watch=f&${mine}`, 'watch', 'mine'],
    ['GET', `${pods}?watch=FALSE&${mine}`, 'list', 'mine'],
    ['GET', `${pods}?${mine}%2Cspec.nodeName%3Dn`, 'list', 'mine'],
    ['GET', `${pods}/other?${mine}`, 'get', 'other'],
    ['POST', `${pods}?${mine}`, 'create', ''],
    ['PUT', `${pods}?${mine}`, 'update', ''],
    ['PATCH', `${pods}?${mine}`, 'patch', ''],
    ['DELETE', `${pods}?${mine}`, 'deletecollection', ''],
    ['OPTIONS', `${pods}?${mine}`, '', ''],
    ['GET', `/api/v1/watch/namespaces/a/pods?${mine}`, 'watch', ''],
    // A selector that upstream cannot read names nothing.
    ['GET', `${pods}?${mine}&limit=x`, 'list', ''],
    ['GET', `${pods}?${mine}&timeoutSeconds=`, 'list', ''],
    ['GET', `${pods}?${mine}&labelSelector=a%20b`, 'list', ''],
    ['GET', `${pods}?${mine}%3Dx`, 'list', ''],
    ['GET', `${pods}?fieldSelector=metadata.name!%3Dmine`, 'list', ''],
    ['GET', `${pods}?fieldSelector=metadata.name%3Da%252Fb`, 'list', ''],
    ['GET', `${pods}?fieldSelector=metadata.name%3D..`, 'list', ''],
  ]
  for (const [method, target, verb, name] of table) {
    const { verb: asked, name: named } = attributesOf(method, target)
    assert.deepEqual([asked, named], [verb, name], `${method} ${target}`)
  }
})

test('only list, watch and deletecollection send their selectors to authorizers', () => {
  const query = `${mine}&labelSelector=a%3Db`
  const both = ['metadata.name=mine', 'a=b']
  const none = [undefined, undefined]
  const table: readonly [method: string, path: string, selectors: unknown][] = [
    ['GET', pods, both],
    ['DELETE', pods, both],
    ['GET', `${pods}/b`, none],
    ['POST', pods, none],
    ['DELETE', `${pods}/b`, none],
    ['GET', '/api/v1/watch/pods', none],
    ['GET', '/version', none],
  ]
  for (const [method, path, selectors] of table) {
    const asked = attributesOf(method, `${path}?${query}`)
    assert.deepEqual([asked.fieldSelector, asked.labelSelector], selectors, `${method} ${path}`)
  }
})
