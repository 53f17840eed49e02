import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  foundPage,
  nothingFound,
  readKinds,
  searchPath,
  usualKinds,
  withLine,
} from './search-lines.ts'

test('a search asks for known kinds alone', () => {
  assert.deepEqual(readKinds('v1/configmaps,v1/evil,batch/v1/jobs'), [
    'batch/v1/jobs',
    'v1/configmaps',
  ])
  assert.deepEqual(readKinds(undefined), usualKinds)
  assert.equal(
    searchPath(' app=web ', ['v1/pods', 'apps/v1/deployments'], 5),
    '/hub/v1/search?q=app%3Dweb&kinds=v1%2Fpods%2Capps%2Fv1%2Fdeployments&limit=5',
  )
})

test('lines add up to the objects, the clusters that did not answer, and the end of the search', () => {
  const lines = [
    { cluster: 'reef', items: [{ kind: 'apps/v1/deployments', name: 'web', namespace: 'shop' }] },
    { cluster: 'far', error: 'it did not answer within 3 s' },
    { end: { clusters: 3, asked: 3, isCut: false } },
  ]
  const found = lines.reduce((all, line) => withLine(all, JSON.stringify(line)), nothingFound)
  assert.deepEqual(found.failures, [['far', 'it did not answer within 3 s']])
  assert.deepEqual(found.end, { clusters: 3, asked: 3, isCut: false })
  assert.deepEqual(found.items.map(foundPage), ['/objects/reef/apps/v1/deployments/shop/web'])
})
