import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@skerry/api'
import { faultsOfMove } from './moved-pods.ts'

function nodeOf(podCIDR: string | undefined): Node {
  const spec = podCIDR === undefined ? {} : { podCIDR }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec }
}

function podOf(name: string, fields: Partial<Pod> = {}, metadata: Pod['metadata'] = {}): Pod {
  const own = { name, namespace: 'shop', uid: `uid-${name}`, ...metadata }
  return { apiVersion: 'v1', kind: 'Pod', metadata: own, ...fields }
}

const range = '10.42.1.0/24'
const here = { node: nodeOf(range), pods: [podOf('db')] }
const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } }
const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => podOf(name))

const table: readonly [
  title: string,
  known: Parameters<typeof faultsOfMove>[0],
  found: Parameters<typeof faultsOfMove>[1],
  faults: readonly string[],
][] = [
  ['the same pods are there', here, here, []],
  ['a control plane may have more pods', here, { ...here, pods: [podOf('db'), podOf('new')] }, []],
  [
    'no such node is there',
    here,
    { node: undefined, pods: [podOf('db')] },
    ['there is no such node'],
  ],
  [
    'a pod of the same name and another uid is another pod',
    here,
    { ...here, pods: [podOf('db', {}, { uid: 'other' })] },
    ['these pods are missing, and would end here: shop/db'],
  ],
  [
    'running pods would lose their addresses',
    here,
    { ...here, node: nodeOf('10.42.9.0/24') },
    ["the node's pods have addresses of 10.42.9.0/24, not 10.42.1.0/24"],
  ],
  [
    'pods have no range there',
    here,
    { ...here, node: nodeOf(undefined) },
    ["the node's pods have addresses of no range, not 10.42.1.0/24"],
  ],
  [
    'finished, ending and static pods do not matter',
    {
      node: nodeOf(range),
      pods: [
        podOf('done', { status: { phase: 'Succeeded' } }),
        podOf('going', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
        podOf('own', {}, mirror),
      ],
    },
    { ...here, pods: [] },
    [],
  ],
  [
    'many missing pods are counted',
    { node: nodeOf(range), pods: many },
    { ...here, pods: [] },
    ['these pods are missing, and would end here: shop/a, shop/b, shop/c, shop/d, shop/e, 2 more'],
  ],
]

for (const [title, known, found, faults] of table) {
  test(`of a node that is to move: ${title}`, () => {
    assert.deepEqual(faultsOfMove(known, found), faults)
  })
}
