import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginningOf } from './first-page.ts'

test('only an address without a page leads to the one that the viewer chose', () => {
  const at = (path: string): string => `https://hub:7443${path}`
  assert.equal(beginningOf(at('/console/'), '/clusters'), '/console/clusters')
  assert.equal(beginningOf(at('/console'), '/clusters'), '/console/clusters')
  assert.equal(beginningOf(at('/console/'), '/'), undefined)
  assert.equal(beginningOf(at('/console/access'), '/clusters'), undefined)
  assert.equal(beginningOf(at('/console/?group=zone'), '/clusters'), undefined)
})
