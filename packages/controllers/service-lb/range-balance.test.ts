import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '@skerry/api'
import { planRangeBalances } from './range-balance.ts'

const ranges = ['192.168.7.240', '192.168.7.241']

const service = (name: string, at: number, loadBalancerIP?: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop', uid: name, creationTimestamp: `2026-01-0${at}T00:00:00Z` },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...(loadBalancerIP && { loadBalancerIP }) },
})

const table: readonly {
  readonly name: string
  readonly services: readonly Service[]
  readonly given?: Record<string, string>
  readonly expected: Record<string, string>
}[] = [
  {
    name: 'the oldest services get the first addresses, and the rest hear that there are no more',
    services: [service('c', 3), service('b', 2), service('a', 1)],
    expected: {
      a: '192.168.7.240',
      b: '192.168.7.241',
      c: 'all addresses of the ranges are in use',
    },
  },
  {
    name: 'a service keeps its address, also against an older one that asks for it',
    services: [service('a', 1, '192.168.7.240'), service('b', 2)],
    given: { '192.168.7.240': 'shop/b' },
    expected: { a: 'service shop/b has 192.168.7.240', b: '192.168.7.240' },
  },
  {
    name: 'a service that asks for another address gets that one and gives its own up',
    services: [service('a', 1, '192.168.7.241'), service('b', 2, '192.168.7.240')],
    given: { '192.168.7.240': 'shop/a' },
    expected: { a: '192.168.7.241', b: '192.168.7.240' },
  },
  {
    name: 'addresses of former services and former ranges are free',
    services: [service('a', 1), service('b', 2)],
    given: { '192.168.7.240': 'shop/gone', '192.168.7.99': 'shop/b' },
    expected: { a: '192.168.7.240', b: '192.168.7.241' },
  },
  {
    name: 'an address outside of the ranges is refused',
    services: [service('a', 1, '192.168.7.9')],
    expected: { a: '192.168.7.9 is not in the ranges of the site' },
  },
]

for (const { name, services, given = {}, expected } of table) {
  test(name, () => {
    const addresses = Object.entries(given).map(([address, owner]) => ({ address, service: owner }))
    const plan = planRangeBalances(services, ranges, addresses)
    const seen = plan.map((each) => [each.service.metadata.name, each.ingress[0]?.ip ?? each.fault])
    assert.deepEqual(Object.fromEntries(seen), expected)
  })
}
