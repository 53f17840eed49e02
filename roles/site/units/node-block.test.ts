import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseBlock } from './node-block.ts'

const network = { clusterCidr: '10.42.0.0/16', nodeCidrMaskSize: 24 }

const table: readonly [
  title: string,
  network: Parameters<typeof chooseBlock>[0],
  taken: readonly string[],
  block: string | undefined,
][] = [
  ['is at the end of the range', network, ['10.42.0.0/24'], '10.42.248.0/21'],
  ['leaves out that of another unit', network, ['10.42.248.0/21'], '10.42.240.0/21'],
  ['leaves out a node in it', network, ['10.42.250.0/24'], '10.42.240.0/21'],
  [
    'is smaller if there is little room',
    { ...network, clusterCidr: '10.42.0.0/22' },
    ['10.42.3.0/24', '10.42.0.0/24'],
    '10.42.2.0/24',
  ],
  [
    'is not there if all is used',
    { ...network, clusterCidr: '10.42.0.0/24' },
    ['10.42.0.0/24'],
    undefined,
  ],
]

for (const [title, of, taken, block] of table) {
  test(`the range that is set aside for new nodes of a unit ${title}`, () => {
    assert.equal(chooseBlock(of, taken), block)
  })
}
