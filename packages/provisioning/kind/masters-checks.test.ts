import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeClusterSpec } from './edge-cluster.ts'
import { mastersCauses, mastersFixedCauses } from './masters-checks.ts'

const credentials = { name: 'ssh' }
const etcd = { store: { type: 'Etcd' as const } }

/** Machines of these roles at 10.0.0.1, 10.0.0.2 and so on. */
function specOf(roles: string, fields: object = {}): EdgeClusterSpec {
  const names = { m: 'Master', n: 'Node', w: 'Witness' } as const
  const machines = Array.from(roles, (letter, at) => ({
    addresses: [`10.0.0.${at + 1}`],
    credentials,
    // The tests use no other letters.
    role: names[letter as keyof typeof names],
  }))
  // The cases hold words that a client may send and no type knows.
  return { machines, ...fields } as EdgeClusterSpec
}

const virtual = (fields: object = {}): object => ({
  ...etcd,
  highAvailability: { type: 'VirtualIP', address: '10.0.0.100', ...fields },
})
const balancer = (fields: object = {}): object => ({
  highAvailability: { type: 'Balancer', address: 'lb.example.com', ...fields },
})

const accepted: readonly [what: string, roles: string, fields?: object][] = [
  ['one master on a file', 'mn'],
  ['one master on an etcd', 'm', etcd],
  ['three masters', 'mmmnn', etcd],
  ['two masters and a witness', 'mmw', etcd],
  ['a heartbeat', 'mmm', { store: { type: 'Etcd', heartbeatMilliseconds: 250 } }],
  ['a virtual IP', 'mmm', virtual()],
  ['a virtual IP with its number', 'mmw', virtual({ virtualRouterId: 255 })],
  ['a balancer before one master', 'm', balancer()],
  [
    'a balancer with an address and a port',
    'mmm',
    { ...etcd, ...balancer({ address: '10.0.0.9', port: 443 }) },
  ],
  ['no availability', 'm', { highAvailability: { type: 'None' } }],
]
for (const [what, roles, fields] of accepted) {
  test(`${what} is accepted`, () => {
    assert.deepEqual(mastersCauses(specOf(roles, fields)), [])
  })
}

const refused: readonly [what: string, spec: EdgeClusterSpec, field: string, why: RegExp][] = [
  ['no master', specOf('n'), 'spec.machines', /role Master/],
  ['two masters on files', specOf('mm'), 'spec.machines', /set spec.store.type to Etcd/],
  ['a witness of a file', specOf('mw'), 'spec.machines', /need an etcd/],
  ['two masters without a witness', specOf('mm', etcd), 'spec.machines', /survive less than one/],
  ['two masters and two witnesses', specOf('mmww', etcd), 'spec.machines', /not several/],
  ['three masters and a witness', specOf('mmmw', etcd), 'spec.machines', /there are 3/],
  ['one master and a witness', specOf('mw', etcd), 'spec.machines', /there is 1/],
  ['four masters', specOf('mmmm', etcd), 'spec.machines', /at most 3/],
  ['an unknown store', specOf('m', { store: { type: 'Raft' } }), 'spec.store.type', /SQLite/],
  [
    'a heartbeat of a file',
    specOf('m', { store: { heartbeatMilliseconds: 100 } }),
    'spec.store.heartbeatMilliseconds',
    /belongs to spec.store.type Etcd/,
  ],
  [
    'a slow heartbeat',
    specOf('m', { store: { type: 'Etcd', heartbeatMilliseconds: 5_000 } }),
    'spec.store.heartbeatMilliseconds',
    /from 10 to 1000/,
  ],
  [
    'an unknown word',
    specOf('m', { highAvailability: { type: 'x' } }),
    'spec.highAvailability.type',
    /VirtualIP/,
  ],
  [
    'an address of nothing',
    specOf('m', { highAvailability: { address: '10.0.0.9' } }),
    'spec.highAvailability.address',
    /belongs to/,
  ],
  [
    'a virtual IP without an address',
    specOf('mmm', virtual({ address: undefined })),
    'spec.highAvailability.address',
    /Required/i,
  ],
  [
    'a virtual IP for one master',
    specOf('m', virtual()),
    'spec.highAvailability.type',
    /several masters/,
  ],
  [
    'a virtual IP among pods',
    specOf('mmm', virtual({ address: '10.42.3.4' })),
    'spec.highAvailability.address',
    /spec.network.podCIDR/,
  ],
  [
    'a virtual IP among services',
    specOf('mmm', virtual({ address: '10.43.0.9' })),
    'spec.highAvailability.address',
    /spec.network.serviceCIDR/,
  ],
  [
    "a virtual IP that is a machine's",
    specOf('mmm', virtual({ address: '10.0.0.2' })),
    'spec.highAvailability.address',
    /address of a machine/,
  ],
  [
    "a virtual IP that is the hub's",
    { ...specOf('mmm', virtual()), hubServer: 'https://10.0.0.100:7443' },
    'spec.highAvailability.address',
    /address of the hub/,
  ],
  [
    "a virtual IP that is a jump host's",
    {
      ...specOf('mmm', virtual()),
      machines: specOf('mmm').machines.map((block) => ({
        ...block,
        jump: { address: '10.0.0.100', credentials },
      })),
    },
    'spec.highAvailability.address',
    /address of a jump host/,
  ],
  [
    'a virtual IP with a name',
    specOf('mmm', virtual({ address: 'vip.example.com' })),
    'spec.highAvailability.address',
    /IPv4/,
  ],
  [
    'a virtual IP on the hub itself',
    specOf('mmm', virtual({ address: '127.0.0.1' })),
    'spec.highAvailability.address',
    /hub itself/,
  ],
  [
    'a virtual IP with a port',
    specOf('mmm', virtual({ port: 443 })),
    'spec.highAvailability.port',
    /Balancer/,
  ],
  [
    'a number of no virtual IP',
    specOf('m', balancer({ virtualRouterId: 3 })),
    'spec.highAvailability.virtualRouterId',
    /VirtualIP/,
  ],
  [
    'a large number',
    specOf('mmm', virtual({ virtualRouterId: 256 })),
    'spec.highAvailability.virtualRouterId',
    /1 to 255/,
  ],
  [
    'a balancer with an odd address',
    specOf('m', balancer({ address: '10.0.0.300' })),
    'spec.highAvailability.address',
    /IPv4 address or a DNS name/,
  ],
  [
    'a balancer with a large port',
    specOf('m', balancer({ port: 70_000 })),
    'spec.highAvailability.port',
    /65535/,
  ],
]
for (const [what, spec, field, why] of refused) {
  test(`${what} is refused at ${field}`, () => {
    const causes = mastersCauses(spec)
    assert.ok(
      causes.some((cause) => cause.field === field && why.test(cause.message ?? '')),
      JSON.stringify(causes),
    )
  })
}

const changes: readonly [
  what: string,
  old: EdgeClusterSpec,
  next: EdgeClusterSpec,
  field?: string,
][] = [
  ['a file becomes an etcd', specOf('m'), specOf('m', etcd)],
  ['one master becomes three', specOf('m', etcd), specOf('mmm', etcd)],
  ['an etcd becomes a file', specOf('m', etcd), specOf('m'), 'spec.store.type'],
  [
    'the heartbeat changes',
    specOf('m', etcd),
    specOf('m', { store: { type: 'Etcd', heartbeatMilliseconds: 50 } }),
    'spec.store.heartbeatMilliseconds',
  ],
  ['a node becomes a master', specOf('mn', etcd), specOf('mm', etcd), 'spec.machines'],
  ['a master becomes a witness', specOf('mmm', etcd), specOf('mmw', etcd), 'spec.machines'],
]
for (const [what, old, next, field] of changes) {
  test(`${what}: ${field === undefined ? 'accepted' : `refused at ${field}`}`, () => {
    const fields = mastersFixedCauses(next, old).map((cause) => cause.field)
    assert.deepEqual(fields, field === undefined ? [] : [field])
  })
}
