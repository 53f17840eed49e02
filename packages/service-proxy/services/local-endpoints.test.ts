import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withLocalAddresses } from './local-endpoints.ts'
import { slice } from '../testing/service-objects.ts'

test('a pod with another address since the reboot is found there, and every other stays', () => {
  const before = slice('web', [
    { address: '10.42.0.2' },
    { address: '10.42.0.3' },
    { address: '10.42.1.2' },
  ])
  for (const [index, endpoint] of (before.endpoints ?? []).entries()) {
    endpoint.targetRef = { kind: 'Pod', name: `p${index}`, uid: `u${index}` }
  }
  const now = new Map([
    ['u0', '10.42.0.3'],
    ['u1', '10.42.0.2'],
  ])
  const state = withLocalAddresses({ services: [], slices: [before] }, (uid) => now.get(uid))
  assert.deepEqual(
    state.slices[0]?.endpoints?.map((endpoint) => endpoint.addresses),
    [['10.42.0.3'], ['10.42.0.2'], ['10.42.1.2']],
  )
})
