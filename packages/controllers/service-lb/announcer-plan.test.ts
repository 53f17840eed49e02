import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planAnnouncers } from './announcer-plan.ts'

const table: readonly {
  readonly name: string
  readonly alive: string
  /** Maps each address to its holder or nothing, a colon, and the candidates. */
  readonly addresses: Record<string, string>
  readonly expected: Record<string, string | undefined>
}[] = [
  {
    name: 'new addresses are spread over the nodes',
    alive: 'a b c',
    addresses: { 1: ':a b c', 2: ':a b c', 3: ':a b c', 4: ':a b c' },
    expected: { 1: 'a', 2: 'b', 3: 'c', 4: 'a' },
  },
  {
    name: 'a holder that lives keeps its addresses, however many it has',
    alive: 'a b',
    addresses: { 1: 'a:a b', 2: 'a:a b', 3: ':a b' },
    expected: { 1: 'a', 2: 'a', 3: 'b' },
  },
  {
    name: 'the addresses of a dead holder go to those that have the fewest',
    alive: 'b c',
    addresses: { 1: 'a:a b c', 2: 'a:a b c', 3: 'b:a b c' },
    expected: { 1: 'c', 2: 'b', 3: 'b' },
  },
  {
    name: 'a holder that may not have an address any more gives it up',
    alive: 'a b',
    addresses: { 1: 'a:b', 2: 'a:' },
    expected: { 1: 'b', 2: undefined },
  },
  {
    name: 'a holder out of sight stays if no other node is in sight',
    alive: '',
    addresses: { 1: 'b:a b', 2: ':a b' },
    expected: { 1: 'b', 2: 'a' },
  },
]

for (const { name, alive, addresses, expected } of table) {
  test(name, () => {
    const given = Object.entries(addresses).map(([address, text]) => {
      const [holder = '', candidates = ''] = text.split(':')
      const names = candidates.split(' ').filter((each) => each !== '')
      return { address, holder: holder === '' ? undefined : holder, candidates: names }
    })
    const living = new Set(alive.split(' '))
    const plan = planAnnouncers(given, (node) => living.has(node))
    assert.deepEqual(Object.fromEntries(plan), expected)
  })
}
