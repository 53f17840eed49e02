import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inEndpointsOrder, inSliceOrder } from './port-order.ts'

const ports = [
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  { name: 'http', port: 8080, protocol: 'TCP' },
  { name: 'more', port: 9090, protocol: 'TCP' },
]

test('ports stand as upstream was seen to write them', () => {
  const names = (of: typeof inSliceOrder): (string | undefined)[] =>
    of(ports).map((each) => each.name)
  assert.deepEqual(names(inEndpointsOrder), ['more', 'http', 'dns-tcp', 'dns'])
  assert.deepEqual(names(inSliceOrder), ['more', 'http', 'dns', 'dns-tcp'])
})
