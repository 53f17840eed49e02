import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isNothing,
  planPodBridge,
  type HostLink,
  type PodBridgeFacts,
  type PodBridgePlan,
} from './pod-bridge-plan.ts'

const mac = '0a:58:0a:2a:00:01'
const bridge: HostLink = {
  name: 'skerry0',
  master: '',
  isUp: true,
  mac,
  addresses: ['10.42.0.1/24'],
}
const cable: HostLink = {
  name: 'veth1',
  master: 'skerry0',
  isUp: true,
  mac: 'be:00:00:00:00:01',
  addresses: [],
}
const other: HostLink = {
  name: 'eth0',
  master: '',
  isUp: true,
  mac: 'be:00:00:00:00:02',
  addresses: ['192.168.0.9/24'],
}

const well: PodBridgeFacts = {
  bridge: 'skerry0',
  podCidrs: ['10.42.0.0/24'],
  sandboxes: [{ id: 's1', ips: ['10.42.0.2'], hostLink: 'veth1' }],
  links: [bridge, cable, other],
  reserved: new Set(['10.42.0.2', 'lock']),
}

const cases: [string, Partial<PodBridgeFacts>, Partial<PodBridgePlan>][] = [
  [
    'the bridge is gone',
    { links: [{ ...cable, master: '' }, other] },
    {
      makeBridge: true,
      setMac: mac,
      addAddresses: ['10.42.0.1/24'],
      raiseBridge: true,
      attach: ['veth1'],
    },
  ],
  [
    'the bridge has the hardware address of a pod',
    { links: [{ ...bridge, mac: cable.mac }, cable] },
    { setMac: mac },
  ],
  [
    'the bridge has lost its address',
    { links: [{ ...bridge, addresses: [] }, cable] },
    { addAddresses: ['10.42.0.1/24'] },
  ],
  ['the bridge is down', { links: [{ ...bridge, isUp: false }, cable] }, { raiseBridge: true }],
  ['a cable hangs loose', { links: [bridge, { ...cable, master: '' }] }, { attach: ['veth1'] }],
  [
    'a cable is plugged into another bridge',
    { links: [bridge, { ...cable, master: 'br0' }] },
    { attach: ['veth1'] },
  ],
  ['a cable is down', { links: [bridge, { ...cable, isUp: false }] }, { attach: ['veth1'] }],
  ['a cable is gone', { links: [bridge] }, { lost: ['s1'] }],
  [
    'where the cable ends is unknown',
    { links: [bridge], sandboxes: [{ id: 's1', ips: ['10.42.0.2'], hostLink: '' }] },
    {},
  ],
  [
    'addresses in use count as free',
    { reserved: new Set() },
    { reserve: [{ address: '10.42.0.2', sandboxId: 's1' }] },
  ],
  [
    "somebody has taken the bridge's address",
    { links: [bridge, cable, { ...other, addresses: ['10.42.0.1/16'] }] },
    {
      problems: [
        "10.42.0.1, the pod network's own address, is on interface eth0, too: remove it there",
      ],
    },
  ],
  ['there was no pod yet', { sandboxes: [], links: [bridge] }, {}],
  ['the range is one of IPv6, which the plugins look after', { podCidrs: ['fd00::/64'] }, {}],
]

const nothing: PodBridgePlan = {
  makeBridge: false,
  setMac: undefined,
  addAddresses: [],
  raiseBridge: false,
  attach: [],
  reserve: [],
  lost: [],
  problems: [],
}

test('an intact pod network needs nothing', () => {
  const plan = planPodBridge(well)
  assert.deepEqual(plan, nothing)
  assert.ok(isNothing(plan))
})

for (const [name, facts, plan] of cases) {
  test(`${name}: the plan has the missing parts, and no more`, () => {
    assert.deepEqual(planPodBridge({ ...well, ...facts }), { ...nothing, ...plan })
  })
}
