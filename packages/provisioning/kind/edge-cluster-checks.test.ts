import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, EdgeClusterSpec } from './edge-cluster.ts'
import { edgeClusterCauses } from './edge-cluster-checks.ts'
import { nodesMaxOf } from './network-size.ts'

const block = { addresses: ['10.0.0.11'], credentials: { name: 'ssh' }, role: 'Master' as const }
const node = { addresses: ['10.0.0.12'], credentials: { name: 'ssh' } }

function edgeWith(spec: object, name = 'branch-7'): EdgeCluster {
  const metadata = { name, namespace: 'default' }
  // The cases hold values of wrong types and words, as a client may send them.
  const whole = { machines: [block], ...spec } as EdgeClusterSpec
  return { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster', metadata, spec: whole }
}

const machine = (fields: object): object => ({ machines: [{ ...block, ...fields }] })
const hostKey = `SHA256:${'a'.repeat(43)}`

const fileOf = { from: { configMap: 'files', key: 'a' } }

const accepted: readonly [string, object][] = [
  ['one master', {}],
  ['a master and nodes', { machines: [block, node] }],
  ['ranges of their own', { network: { podCIDR: '10.200.0.0/16', serviceCIDR: '10.201.0.0/20' } }],
  ['a node by its DNS name', { machines: [block, { ...node, addresses: ['shop-7.example.com'] }] }],
  ['a host key', machine({ hostKeys: [hostKey] })],
  ['labels', machine({ labels: { 'example.com/shop': '7', empty: '' } })],
  ['an address of the API', { apiNames: ['10.0.0.9', 'api.example.com'] }],
  ['a hub behind another name', { hubServer: 'https://hub.example.com:6443' }],
  ['a file', { files: [{ from: { secret: 'ca', key: 'ca.crt' }, path: '/etc/ssl/our-ca.crt' }] }],
  ['a file beside those of the program', { files: [{ ...fileOf, path: '/etc/skerry.conf' }] }],
  ['a label that nodes may set', machine({ labels: { 'topology.kubernetes.io/zone': 'a' } })],
  ['steps to skip', { skipSteps: ['Preflight', 'CopyFiles@10.0.0.11'] }],
  ['None and SQLite', { highAvailability: { type: 'None' }, store: { type: 'SQLite' } }],
]
for (const [what, spec] of accepted) {
  test(`${what} is accepted`, () => {
    assert.deepEqual(edgeClusterCauses(edgeWith(spec)), [])
  })
}

const file = { from: { configMap: 'files', key: 'a' }, path: '/etc/a' }
const hook = { when: 'BeforeInstall', configMap: 'hooks', key: 'a' }
const refused: readonly [what: string, spec: object, field: string, message: RegExp][] = [
  ['a name in capitals', { clusterName: 'Branch' }, 'spec.clusterName', /lower case/],
  ['a long name', { clusterName: 'a'.repeat(49) }, 'spec.clusterName', /no more than 48/],
  ['a name with a shell in it', { clusterName: 'a;reboot' }, 'spec.clusterName', /must consist/],
  ['http to the hub', { hubServer: 'http://hub' }, 'spec.hubServer', /https:/],
  ['a hub with a word more', { hubServer: 'https://hub --debug' }, 'spec.hubServer', /https:/],
  ['a hub with a variable', { hubServer: 'https://$HOME' }, 'spec.hubServer', /https:/],
  ['a hub and a second line', { hubServer: 'https://hub\nA=b' }, 'spec.hubServer', /https:/],
  ['an API name with an option', { apiNames: ['a --debug'] }, 'spec.apiNames[0]', /must consist/],
  ['an API name with a dash first', { apiNames: ['ok', '--san'] }, 'spec.apiNames[1]', /must/],
  ['an interface with a space', { networkInterface: 'eth0 a' }, 'spec.networkInterface', /eth0/],
  ['no pod range', { network: { podCIDR: 'x' } }, 'spec.network.podCIDR', /IPv4 range/],
  [
    'a pod range of a host',
    { network: { podCIDR: '10.42.0.1/16' } },
    'spec.network.podCIDR',
    /IPv4/,
  ],
  [
    'a small pod range',
    { network: { podCIDR: '10.42.0.0/25' } },
    'spec.network.podCIDR',
    /24 bits/,
  ],
  ['a whole world', { network: { podCIDR: '0.0.0.0/0' } }, 'spec.network.podCIDR', /IPv4 range/],
  [
    'few services',
    { network: { serviceCIDR: '10.43.0.0/29' } },
    'spec.network.serviceCIDR',
    /28 bits/,
  ],
  [
    'ranges that overlap',
    { network: { serviceCIDR: '10.42.128.0/20' } },
    'spec.network.serviceCIDR',
    /overlap/,
  ],
  [
    'a machine among pods',
    machine({ addresses: ['10.42.3.4'] }),
    'spec.network.podCIDR',
    /machine 10\.42\.3\.4/,
  ],
  [
    'a machine among services',
    machine({ addresses: ['10.43.0.1'] }),
    'spec.network.serviceCIDR',
    /machine 10\.43/,
  ],
  [
    'a domain with a quote',
    { network: { dnsDomain: "a'b" } },
    'spec.network.dnsDomain',
    /must consist/,
  ],
  [
    'pods on loopback',
    { network: { podCIDR: '127.0.0.0/16' } },
    'spec.network.podCIDR',
    /127\.0\.0\.0\/8, which is loopback/,
  ],
  [
    'services in the range of groups',
    { network: { serviceCIDR: '224.0.0.0/16' } },
    'spec.network.serviceCIDR',
    /groups begin/,
  ],
  [
    'link-local services',
    { network: { serviceCIDR: '169.254.128.0/20' } },
    'spec.network.serviceCIDR',
    /link-local/,
  ],
  [
    'a hub among pods',
    { hubServer: 'https://10.42.3.4:7443' },
    'spec.hubServer',
    /is in spec\.network\.podCIDR, 10\.42\.0\.0\/16/,
  ],
  ['a hub at no port', { hubServer: 'https://hub:99999' }, 'spec.hubServer', /https:/],
  [
    'a proxy among services',
    { proxy: { httpProxy: 'http://10.43.0.9:3128' } },
    'spec.proxy.httpProxy',
    /serviceCIDR, 10\.43/,
  ],
  ['an API name that is no address', { apiNames: ['10.0.0.300'] }, 'spec.apiNames[0]', /IPv4/],
  [
    'endless API names',
    { apiNames: Array.from({ length: 101 }, (_, at) => `a${at}.b`) },
    'spec.apiNames',
    /at most 100/,
  ],
  ['loopback as the interface', { networkInterface: 'lo' }, 'spec.networkInterface', /loopback/],
  [
    'a label of Kubernetes for roles',
    machine({ labels: { 'node-role.kubernetes.io/worker': '' } }),
    'spec.machines[0].labels',
    /no node may give it to itself/,
  ],
  [
    'a label that a node sets',
    machine({ labels: { 'kubernetes.io/hostname': 'a' } }),
    'spec.machines[0].labels',
    /set by each node itself/,
  ],
  [
    'labels of a witness',
    machine({ role: 'Witness', labels: { a: 'b' } }),
    'spec.machines[0].labels',
    /runs no node/,
  ],
  [
    'taints of a witness',
    machine({ role: 'Witness', taints: [{ key: 'a', effect: 'NoSchedule' }] }),
    'spec.machines[0].taints',
    /runs no node/,
  ],
  ['a step that is none', { skipSteps: ['Preflihgt'] }, 'spec.skipSteps[0]', /"Preflight"/],
  [
    'a step on a machine that is none',
    { skipSteps: ['Preflight', 'Reboot@10.0.0.11'] },
    'spec.skipSteps[1]',
    /Reboot@/,
  ],
  ['a file twice', { files: [file, file] }, 'spec.files[1].path', /Duplicate/],
  [
    'a file that is a directory',
    { files: [file, { ...file, path: '/etc/a/b/c' }] },
    'spec.files[1].path',
    /below \/etc\/a,/,
  ],
  [
    'a file of the program',
    { files: [{ ...file, path: '/etc/skerry/node.env' }] },
    'spec.files[0].path',
    /place of the program/,
  ],
  ['no machines', { machines: [] }, 'spec.machines', /role Master/],
  ['no master', { machines: [node] }, 'spec.machines', /role Master/],
  [
    'a machine twice',
    { machines: [block, { ...node, addresses: ['10.0.0.[10-12]'] }] },
    'spec.machines',
    /10\.0\.0\.11/,
  ],
  [
    'more nodes than pods have ranges',
    { machines: [block, node], network: { podCIDR: '10.42.0.0/24' } },
    'spec.machines',
    /at most 1 nodes/,
  ],
  ['no address', machine({ addresses: [] }), 'spec.machines[0].addresses', /.*/],
  [
    'an address that is none',
    machine({ addresses: ['$(reboot)'] }),
    'spec.machines[0].addresses[0]',
    /must be/,
  ],
  [
    'loopback',
    machine({ addresses: ['127.0.0.1'] }),
    'spec.machines[0].addresses[0]',
    /on the hub itself/,
  ],
  [
    'any address',
    machine({ addresses: ['0.0.0.0'] }),
    'spec.machines[0].addresses[0]',
    /on the hub itself/,
  ],
  [
    'localhost',
    machine({ addresses: ['localhost'] }),
    'spec.machines[0].addresses[0]',
    /on the hub itself/,
  ],
  [
    'the metadata of a cloud',
    machine({ addresses: ['169.254.169.254'] }),
    'spec.machines[0].addresses[0]',
    /link-local/,
  ],
  [
    'a range that reaches loopback',
    machine({ addresses: ['[126-127].0.0.1'] }),
    'spec.machines[0].addresses[0]',
    /127\.0\.0\.1/,
  ],
  [
    'an octal number',
    machine({ addresses: ['0177.0.0.1'] }),
    'spec.machines[0].addresses[0]',
    /must be/,
  ],
  [
    'a hexadecimal number',
    machine({ addresses: ['0x7f.1'] }),
    'spec.machines[0].addresses[0]',
    /must be/,
  ],
  ['port 0', machine({ port: 0 }), 'spec.machines[0].port', /1 to 65535/],
  [
    'a user with a shell in it',
    machine({ user: 'root;reboot' }),
    'spec.machines[0].user',
    /name of a user/,
  ],
  [
    'a user that is an option',
    machine({ user: '-oProxyCommand=x' }),
    'spec.machines[0].user',
    /name of a user/,
  ],
  ['another role', machine({ role: 'Boss' }), 'spec.machines[0].role', /Boss/],
  ['no Secret', machine({ credentials: { name: '' } }), 'spec.machines[0].credentials.name', /.*/],
  [
    'a Secret elsewhere',
    machine({ credentials: { name: '../kube-system/x' } }),
    'spec.machines[0].credentials.name',
    /must consist/,
  ],
  [
    'a host key that is none',
    machine({ hostKeys: ['MD5:1'] }),
    'spec.machines[0].hostKeys[0]',
    /fingerprint/,
  ],
  [
    'a label with a variable',
    machine({ labels: { a: '$HOME' } }),
    'spec.machines[0].labels',
    /must/,
  ],
  ['a label with a specifier', machine({ labels: { a: '%n' } }), 'spec.machines[0].labels', /must/],
  [
    'a label with two words',
    machine({ labels: { a: 'b --debug' } }),
    'spec.machines[0].labels',
    /must/,
  ],
  ['a label with two lines', machine({ labels: { a: 'b\n' } }), 'spec.machines[0].labels', /must/],
  [
    'a label key with quotes',
    machine({ labels: { '"a"': 'b' } }),
    'spec.machines[0].labels',
    /must/,
  ],
  [
    'a file from two places',
    { files: [{ ...file, from: { configMap: 'a', secret: 'b', key: 'c' } }] },
    'spec.files[0].from',
    /exactly one/,
  ],
  [
    'a file from nowhere',
    { files: [{ ...file, from: { key: 'c' } }] },
    'spec.files[0].from',
    /exactly one/,
  ],
  [
    'a file from elsewhere',
    { files: [{ ...file, from: { secret: '../x', key: 'c' } }] },
    'spec.files[0].from',
    /must consist/,
  ],
  [
    'a key with a path',
    { files: [{ ...file, from: { secret: 'x', key: '../c' } }] },
    'spec.files[0].from.key',
    /must be a key/,
  ],
  ['no key', { files: [{ ...file, from: { secret: 'x' } }] }, 'spec.files[0].from.key', /.*/],
  ['a relative path', { files: [{ ...file, path: 'etc/a' }] }, 'spec.files[0].path', /absolute/],
  ['a path upwards', { files: [{ ...file, path: '/etc/../a' }] }, 'spec.files[0].path', /absolute/],
  [
    'a path with a command',
    { files: [{ ...file, path: '/a$(reboot)' }] },
    'spec.files[0].path',
    /special/,
  ],
  [
    'permissions that are none',
    { files: [{ ...file, mode: '9999' }] },
    'spec.files[0].mode',
    /octal/,
  ],
  ['setuid', { files: [{ ...file, mode: '4755' }] }, 'spec.files[0].mode', /three octal/],
  [
    'a hook at another time',
    { hooks: [{ ...hook, when: 'Later' }] },
    'spec.hooks[0].when',
    /Later/,
  ],
  [
    'a hook from elsewhere',
    { hooks: [{ ...hook, configMap: 'a/b' }] },
    'spec.hooks[0].configMap',
    /must consist/,
  ],
  [
    'a hook with an odd key',
    { hooks: [{ ...hook, key: 'a b' }] },
    'spec.hooks[0].key',
    /must be a key/,
  ],
  ['no attempt', { retry: { attempts: 0 } }, 'spec.retry.attempts', /1 to 1000/],
  ['endless attempts', { retry: { attempts: 1_001 } }, 'spec.retry.attempts', /1 to 1000/],
  ['another way to delete', { deletion: { machines: 'Burn' } }, 'spec.deletion.machines', /Burn/],
  [
    'a million machines',
    machine({ addresses: Array.from({ length: 1_000 }, (_, at) => `a${at}-[0-999].b`) }),
    'spec.machines',
    /at most 1000/,
  ],
  [
    'a thousand texts',
    machine({ addresses: Array.from({ length: 1_001 }, (_, at) => `a${at}`) }),
    'spec.machines',
    /at most 1000/,
  ],
  [
    'endless addresses',
    machine({ addresses: [`[0-999].${`${'a'.repeat(60)}.`.repeat(3)}b`] }),
    'spec.machines',
    /32000 characters/,
  ],
  ['a large spec', { displayName: 'a'.repeat(200_000) }, 'spec', /no more than 131072 bytes/],
]
for (const [what, spec, field, message] of refused) {
  test(`${what} is refused at ${field}`, () => {
    const causes = edgeClusterCauses(edgeWith(spec))
    const found = causes.filter((cause) => cause.field === field)
    assert.ok(
      found.some((cause) => message.test(cause.message ?? '')),
      JSON.stringify(causes),
    )
  })
}

test('the name of the object is checked where it names the cluster', () => {
  assert.equal(edgeClusterCauses(edgeWith({}, 'a'.repeat(49)))[0]?.field, 'metadata.name')
})

const limits: readonly [string, number][] = [
  ['10.42.0.0/16', 256],
  ['10.42.0.0/24', 1],
  ['10.0.0.0/8', 65_536],
  ['10.42.0.0/25', 0],
]
for (const [podCIDR, nodes] of limits) {
  test(`pods in ${podCIDR} allow for ${nodes} nodes`, () => {
    assert.equal(nodesMaxOf({ network: { podCIDR } }), nodes)
  })
}
