import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figuresOf, networkSizeOf } from './network-size.ts'

const sizes: readonly [podsPerNode: number | undefined, nodeBits: number, nodesMax: number][] = [
  [undefined, 24, 256],
  [110, 24, 256],
  [128, 24, 256],
  [129, 23, 128],
  [256, 23, 128],
  [500, 22, 64],
  [8, 28, 4_096],
  [30, 26, 1_024],
]
for (const [podsPerNode, nodeBits, nodesMax] of sizes) {
  test(`${podsPerNode ?? 'the usual'} pods on a node need a /${nodeBits}`, () => {
    const network = podsPerNode === undefined ? {} : { podsPerNode }
    const found = networkSizeOf({ network })
    assert.deepEqual([found.nodeBits, found.nodesMax], [nodeBits, nodesMax])
    assert.ok(2 ** (32 - nodeBits) >= 2 * (podsPerNode ?? 110))
  })
}

test('the figures are put into words', () => {
  const network = { podCIDR: '10.8.0.0/20', serviceCIDR: '10.43.0.0/24', podsPerNode: 60 }
  assert.equal(
    figuresOf({ spec: { machines: [], network } }).capacity,
    'at most 32 nodes with 60 pods each (a /25 for each node), and 254 services',
  )
})
