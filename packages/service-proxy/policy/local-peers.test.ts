import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peer, pod } from '../testing/policy-objects.ts'
import { LocalPeers } from './local-peers.ts'

const apiPeers = [
  peer('shop/web', '10.42.0.2'),
  peer('shop/front', '10.42.0.3'),
  peer('shop/far', '10.42.1.2', { node: 'b' }),
]
const web = withUid('shop/web', '1')
const front = withUid('shop/front', '2')

function withUid(path: string, uid: string) {
  const made = pod(path, '')
  return { ...made, metadata: { ...made.metadata, uid } }
}

const cases: readonly [name: string, act: (local: LocalPeers) => void, seen: string[]][] = [
  ['nothing was placed', () => undefined, ['far 10.42.1.2', 'front 10.42.0.3', 'web 10.42.0.2']],
  [
    'a pod has an address before the API knows',
    (local) => local.place(withUid('shop/new', '9'), '10.42.0.9'),
    ['far 10.42.1.2', 'front 10.42.0.3', 'new 10.42.0.9', 'web 10.42.0.2'],
  ],
  [
    'after a reboot two pods have each other’s address',
    (local) => {
      local.place(web, '10.42.0.3')
      local.place(front, '10.42.0.2')
    },
    ['far 10.42.1.2', 'front 10.42.0.2', 'web 10.42.0.3'],
  ],
  [
    'an address that was given on is no longer that of the first',
    (local) => local.place(withUid('shop/new', '9'), '10.42.0.2'),
    ['far 10.42.1.2', 'front 10.42.0.3', 'new 10.42.0.2'],
  ],
  [
    'given on by word of the node, too',
    (local) => {
      local.place(withUid('shop/old', '8'), '10.42.0.9')
      local.place(withUid('shop/new', '9'), '10.42.0.9')
    },
    ['far 10.42.1.2', 'front 10.42.0.3', 'new 10.42.0.9', 'web 10.42.0.2'],
  ],
  [
    'a pod that is gone is as the API says',
    (local) => {
      local.place(web, '10.42.0.8')
      local.remove(web)
    },
    ['far 10.42.1.2', 'front 10.42.0.3', 'web 10.42.0.2'],
  ],
]
for (const [name, act, seen] of cases) {
  test(`where pods are: ${name}`, () => {
    const local = new LocalPeers('a')
    act(local)
    const shown = local.over(apiPeers).map(({ metadata, address }) => `${metadata.name} ${address}`)
    assert.deepEqual(shown.toSorted(), seen)
  })
}

test('the same message twice is not a change', () => {
  const local = new LocalPeers('a')
  assert.deepEqual(
    [local.place(web, '10.42.0.2'), local.place(web, '10.42.0.2'), local.place(web, '10.42.0.4')],
    [true, false, true],
  )
})
