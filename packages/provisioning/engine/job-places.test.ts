import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edgeJobBounds } from '../limits-table.ts'
import { Places } from './job-places.ts'

const { clustersOfNamespaceAtOnce: most, workers } = edgeJobBounds

test('a cluster has one job at a time', () => {
  const places = new Places()
  const claim = places.claim('shops/branch-7', 'shops/spring.branch-7')
  assert.ok(claim)
  assert.equal(places.claim('shops/branch-7', 'shops/summer.branch-7'), undefined)
  claim[Symbol.dispose]()
  assert.ok(places.claim('shops/branch-7', 'shops/summer.branch-7'))
})

test('the jobs of one namespace leave places to those of others', () => {
  const places = new Places()
  const take = (namespace: string, at: number): Disposable | undefined =>
    places.claim(`${namespace}/branch-${at}`, `${namespace}/spring.branch-${at}`)
  const taken = Array.from({ length: workers }, (_, at) => take('shops', at))
  const held = taken.filter((claim) => claim !== undefined)
  assert.deepEqual([held.length, most < workers], [most, true])
  assert.ok(take('depots', 1))
  held[0]?.[Symbol.dispose]()
  assert.ok(take('shops', workers))
})
