import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service } from '@skerry/api'
import { createTestNetwork, type TestHost } from '@skerry/testing'
import { renderDelta, renderTable, type NftTable } from '../nftables/nft-table.ts'
import type { MachinePorts, UsedPort } from './machine-ports.ts'
import { planServicePorts } from './service-ports.ts'
import { planAddresses } from './address-plan.ts'
import { buildServiceTable, type ServiceNetwork } from './service-table.ts'
import { service, slice } from '../testing/service-objects.ts'

const skip = process.getuid?.() !== 0 && 'needs root'

const network: ServiceNetwork = {
  clusterCidr: '10.42.0.0/16',
  serviceCidr: '10.43.0.0/16',
  podCidr: '10.42.0.0/24',
  ownAddresses: ['10.43.0.10'],
  nodeAddresses: [],
  reservedAddresses: [],
}

function tableOf(
  services: readonly Service[],
  slices: readonly EndpointSlice[],
  machine?: MachinePorts,
): NftTable {
  const owners = { ...network, machine }
  const plan = planAddresses(planServicePorts(services, slices, { nodeName: 'a' }), owners)
  return buildServiceTable(plan, network)
}

const web = service('web', {
  type: 'NodePort',
  clusterIP: '10.43.0.20',
  clusterIPs: ['10.43.0.20'],
  ports: [{ name: 'http', port: 80, protocol: 'TCP', nodePort: 30080 }],
})
const sticky = service('sticky', {
  clusterIP: '10.43.0.21',
  clusterIPs: ['10.43.0.21'],
  sessionAffinity: 'ClientIP',
  ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
})

/** A load balancer at an address of the node that keeps outside traffic on its node. */
function kept(address: string): { service: Service; nodePort: number } {
  const nodePort = 30_085
  const made = service('kept', {
    type: 'LoadBalancer',
    clusterIP: '10.43.0.45',
    clusterIPs: ['10.43.0.45'],
    externalTrafficPolicy: 'Local',
    ports: [{ name: 'http', port: 8085, protocol: 'TCP', nodePort }],
  })
  return {
    service: { ...made, status: { loadBalancer: { ingress: [{ ip: address }] } } },
    nodePort,
  }
}

const ownMachine = ({ address }: TestHost): MachinePorts => ({
  addresses: new Set([address]),
  used: [],
})

async function load(host: TestHost, script: string): Promise<void> {
  const result = await host.run(['nft', '-f', '-'], { input: script })
  assert.equal(result.exitCode, 0, result.stderr + script)
}

async function kernelTable(host: TestHost): Promise<string> {
  return (await host.run(['nft', 'list', 'table', 'ip', 'skerry'])).stdout
}

/** Answers on UDP port 8080, and opens the pipe `ready` for writing once it listens. */
const udpEcho = (ready: string) =>
  `const s=require('node:dgram').createSocket('udp4').bind(8080,()=>require('node:fs').writeFileSync('${ready}','')).on('message',(m,r)=>s.send('heard',r.port,r.address))`

/** Creates a namespace of the host with an address, where a named answer is served on port 8080. */
async function addPod(host: TestHost, address: string): Promise<void> {
  const device = `veth${address.split('.')[3]}`
  const script = `
    ip netns add pod${device} && ip link add ${device} type veth peer name eth0 netns pod${device}
    ip address add 10.42.0.1/32 dev ${device}; ip link set ${device} up; ip route add ${address}/32 dev ${device}
    ip -n pod${device} address add ${address}/24 dev eth0; ip -n pod${device} link set eth0 up
    ip -n pod${device} link set lo up; ip -n pod${device} route add default via 10.42.0.1
    mkdir -p /run/www${device}; echo ${address} > /run/www${device}/name; mkfifo /run/${device}
    ip netns exec pod${device} ${process.execPath} -e "${udpEcho(`/run/${device}`)}" > /dev/null 2>&1 < /dev/null &
    timeout 10 cat /run/${device}
    ip netns exec pod${device} busybox httpd -p 8080 -h /run/www${device}`
  const result = await host.run(['sh', '-ec', script])
  assert.equal(result.exitCode, 0, result.stderr)
}

async function fetchName(host: TestHost, url: string): Promise<string> {
  const result = await host.run(['timeout', '3', 'busybox', 'wget', '-qO-', `http://${url}/name`])
  return result.exitCode === 0
    ? result.stdout.trim()
    : `refused ${result.stderr.trim().slice(0, 120)}`
}

/** Sends the echo server of a pod one packet, and returns its answer within 3 s. */
async function askByUdp(from: TestHost, address: string, port: number): Promise<string> {
  const script = `
    const socket = require('node:dgram').createSocket('udp4')
    socket.on('message', (text) => { console.log(String(text)); process.exit() })
    socket.send('hello', ${port}, '${address}')`
  return (await from.run(['timeout', '3', process.execPath, '-e', script])).stdout.trim()
}

async function prepare(host: TestHost): Promise<AsyncDisposable> {
  await host.run(['sh', '-c', 'mkdir -p /run/netns; echo 1 > /proc/sys/net/ipv4/ip_forward'])
  await host.run(['ip', 'route', 'add', '10.43.0.0/16', 'dev', 'lo', 'src', host.address])
  await addPod(host, '10.42.0.2')
  await addPod(host, '10.42.0.3')
  return {
    async [Symbol.asyncDispose]() {
      // The servers in the pods would outlive the network.
      const script = 'kill $(ip netns pids podveth2) $(ip netns pids podveth3)'
      await host.run(['sh', '-c', script])
    },
  }
}

test('the kernel sends service traffic where the plan says', { skip }, async (t) => {
  await using network = await createTestNetwork()
  const host = await network.addHost(1)
  const client = await network.addHost(2)
  await using _pods = await prepare(host)
  const both = [slice('web', [{ address: '10.42.0.2' }, { address: '10.42.0.3' }])]
  const bothSticky = [slice('sticky', [{ address: '10.42.0.2' }, { address: '10.42.0.3' }])]
  const first = tableOf([web, sticky], [...both, ...bothSticky])
  await load(host, renderTable(first))

  await t.test('a cluster address reaches every endpoint', async () => {
    const seen = new Set<string>()
    for (let i = 0; i < 30 && seen.size < 2; i++) seen.add(await fetchName(host, '10.43.0.20'))
    assert.deepEqual([...seen].toSorted(), ['10.42.0.2', '10.42.0.3'])
  })
  await t.test('a node port is served to another host', async () => {
    assert.match(await fetchName(client, `${host.address}:30080`), /^10\.42\.0\.[23]$/)
  })
  await t.test('ClientIP affinity holds, also when another service changes', async () => {
    const name = await fetchName(host, '10.43.0.21')
    const one = [slice('web', [{ address: '10.42.0.3' }])]
    const next = tableOf([web, sticky], [...one, ...bothSticky])
    await load(host, renderDelta(first, next))
    for (let i = 0; i < 10; i++) assert.equal(await fetchName(host, '10.43.0.21'), name)
    for (let i = 0; i < 5; i++) assert.equal(await fetchName(host, '10.43.0.20'), '10.42.0.3')
    await load(host, renderDelta(next, first))
  })
  await t.test('a service of one port with two protocols carries both', async () => {
    const ports = [
      { name: 'tcp', port: 53, protocol: 'TCP' },
      { name: 'udp', port: 53, protocol: 'UDP' },
    ]
    const mixed = service('mixed', {
      type: 'NodePort',
      clusterIP: '10.43.0.22',
      clusterIPs: ['10.43.0.22'],
      ports: ports.map((port) => ({ ...port, nodePort: 30053 })),
    })
    const endpoints = slice('mixed', [{ address: '10.42.0.2' }])
    const withPorts = { ...endpoints, ports: ports.map((port) => ({ ...port, port: 8080 })) }
    await load(host, renderTable(tableOf([mixed], [withPorts])))
    assert.equal(await fetchName(host, '10.43.0.22:53'), '10.42.0.2')
    assert.equal(await askByUdp(host, '10.43.0.22', 53), 'heard')
    assert.equal(await askByUdp(client, host.address, 30053), 'heard')
    await load(host, renderTable(first))
  })
  await t.test('a service without endpoints refuses at once, from inside and outside', async () => {
    const none = tableOf([web, sticky], bothSticky)
    await load(host, renderDelta(first, none))
    assert.match(await fetchName(host, '10.43.0.20'), /refused.*Connection refused/)
    assert.match(await fetchName(client, `${host.address}:30080`), /refused.*Connection refused/)
    await load(host, renderDelta(none, first))
  })
  await t.test('an endpoint reaches itself through its own service', async () => {
    const alone = tableOf([web], [slice('web', [{ address: '10.42.0.2' }])])
    await load(host, renderTable(alone))
    const result = await host.run([
      'ip',
      'netns',
      'exec',
      'podveth2',
      'timeout',
      '3',
      'busybox',
      'wget',
      '-qO-',
      'http://10.43.0.20/name',
    ])
    assert.equal(result.stdout.trim(), '10.42.0.2', result.stderr)
    await load(host, renderTable(first))
  })
  await t.test(
    'no service takes the address of another one, of the DNS or of the machine',
    async () => {
      const spec = { ports: [{ name: 'http', port: 80, protocol: 'TCP', nodePort: 30_080 }] }
      const taken = ['10.43.0.20', '10.43.0.10', host.address, '203.0.113.7']
      const thief = service('a-thief', {
        ...spec,
        type: 'NodePort',
        clusterIP: '10.43.0.40',
        externalIPs: taken,
      })
      const late = {
        ...thief,
        metadata: { ...thief.metadata, creationTimestamp: '2026-01-01T00:00:00Z' },
      }
      const slices = [
        slice('web', [{ address: '10.42.0.2' }]),
        slice('a-thief', [{ address: '10.42.0.3' }]),
      ]
      const before = await fetchName(client, `${host.address}:80`)
      await load(host, renderTable(tableOf([late, web], slices)))
      assert.equal(await fetchName(host, '10.43.0.40'), '10.42.0.3')
      assert.equal(await fetchName(host, '10.43.0.20'), '10.42.0.2')
      assert.equal(await fetchName(client, `${host.address}:30080`), '10.42.0.2')
      assert.equal(await fetchName(client, `${host.address}:80`), before)
      await host.run(['ip', 'address', 'add', '10.43.0.10/32', 'dev', 'lo'])
      assert.match(await fetchName(host, '10.43.0.10'), /refused/)
      // An address without an owner is served, and a machine that gets it keeps its programs' ports.
      const served = (used: readonly UsedPort[]): NftTable =>
        tableOf([late, web], slices, { addresses: new Set(['203.0.113.7']), used })
      await host.run(['ip', 'route', 'add', '203.0.113.7/32', 'dev', 'lo'])
      assert.equal(await fetchName(host, '203.0.113.7'), '10.42.0.3')
      await host.run(['ip', 'address', 'add', '203.0.113.7/32', 'dev', 'lo'])
      assert.match(await fetchName(host, '203.0.113.7'), /refused/)
      await load(host, renderTable(served([])))
      assert.equal(await fetchName(host, '203.0.113.7'), '10.42.0.3')
      const program = { protocol: 'tcp' as const, port: 80, address: undefined, by: 'a program' }
      await load(host, renderTable(served([program])))
      assert.match(await fetchName(host, '203.0.113.7'), /refused/)
      const gone =
        'ip address del 203.0.113.7/32 dev lo; ip address del 10.43.0.10/32 dev lo; ip route del 203.0.113.7/32'
      await host.run(['sh', '-c', gone])
      await load(host, renderTable(first))
    },
  )
  await t.test(
    'outside traffic that stays on its node is not answered without an endpoint there',
    async () => {
      const { nodePort } = kept(host.address)
      const here = [slice('kept', [{ address: '10.42.0.2' }, { address: '10.42.0.3', node: 'b' }])]
      const there = [slice('kept', [{ address: '10.42.0.3', node: 'b' }])]
      await load(host, renderTable(tableOf([kept(host.address).service], here, ownMachine(host))))
      for (const port of [nodePort, 8085]) {
        for (let i = 0; i < 5; i++) {
          assert.equal(await fetchName(client, `${host.address}:${port}`), '10.42.0.2')
        }
        const seen = new Set<string>()
        for (let i = 0; i < 40 && seen.size < 2; i++) {
          seen.add(await fetchName(host, `${host.address}:${port}`))
        }
        assert.equal(seen.size, 2, `clients in the cluster reach all endpoints at ${port}`)
      }
      await load(host, renderTable(tableOf([kept(host.address).service], there, ownMachine(host))))
      for (const port of [nodePort, 8085]) {
        assert.equal(await fetchName(host, `${host.address}:${port}`), '10.42.0.3')
        // The packet is dropped: a balancer tries another node.
        assert.equal(await fetchName(client, `${host.address}:${port}`), 'refused ')
      }
      await load(host, renderTable(first))
    },
  )
  await t.test('only clients in the ranges of a load balancer reach its addresses', async () => {
    const from = (ranges: readonly string[]): NftTable => {
      const { service: balancer } = kept(host.address)
      const spec = { ...balancer.spec, loadBalancerSourceRanges: [...ranges] }
      const slices = [slice('kept', [{ address: '10.42.0.2' }])]
      return tableOf([{ ...balancer, spec }], slices, ownMachine(host))
    }
    await load(host, renderTable(from(['198.51.100.0/24'])))
    assert.equal(await fetchName(client, `${host.address}:8085`), 'refused ')
    assert.equal(await fetchName(client, `${host.address}:${kept('').nodePort}`), '10.42.0.2')
    await load(host, renderTable(from(['198.51.100.0/24', `${client.address}/32`])))
    assert.equal(await fetchName(client, `${host.address}:8085`), '10.42.0.2')
    await load(host, renderTable(first))
  })
  await t.test('a delta leads to the same table as a whole replacement', async () => {
    const next = tableOf([sticky], [slice('sticky', [{ address: '10.42.0.3' }])])
    await load(host, renderDelta(first, next))
    const byDelta = await kernelTable(host)
    await load(host, renderTable(next))
    assert.equal(sorted(byDelta), sorted(await kernelTable(host)))
  })
})

/** nft lists chains in order of creation, and sets with the elements that the kernel added. */
function sorted(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.includes('expires'))
    .toSorted()
    .join('\n')
}

test('without a change there is no script at all', () => {
  const table = tableOf([web], [slice('web', [{ address: '10.42.0.2' }])])
  assert.equal(renderDelta(table, tableOf([web], [slice('web', [{ address: '10.42.0.2' }])])), '')
})

test('the cluster DNS address is answered on the node, so it has no rule', () => {
  const dns = service('kube-dns', {
    clusterIP: '10.43.0.10',
    ports: [{ name: 'dns', port: 53, protocol: 'UDP' }],
  })
  const table = tableOf([dns], [])
  assert.equal(table.sets.get('refused')?.elements?.size, 0)
})
