import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkPolicy } from '@skerry/api'
import { createTestNetwork, type TestHost } from '@skerry/testing'
import { renderDelta, renderTable, type NftTable } from '../nft-table.ts'
import { namespace, peer, policy } from '../testing/policy-objects.ts'
import { planPolicies } from './policy-plan.ts'
import { buildPolicyTable, renderNoPolicies } from './policy-table.ts'

const skip = process.getuid?.() !== 0 && 'needs root'

const namespaces = [namespace('shop', { team: 'shop' }), namespace('bank', { team: 'bank' })]
const pods = [
  peer('shop/web', '10.42.0.2', { labels: { app: 'web' }, ports: { http: 8080 } }),
  peer('shop/front', '10.42.0.3', { labels: { app: 'front' } }),
  peer('bank/till', '10.42.0.4', { labels: { app: 'till' } }),
]

function tableOf(...policies: NetworkPolicy[]): NftTable {
  const table = buildPolicyTable(planPolicies({ policies, namespaces, pods }, 'a'))
  assert.ok(table)
  return table
}

async function run(host: TestHost, script: string): Promise<void> {
  const result = await host.run(['sh', '-ec', script])
  assert.equal(result.exitCode, 0, result.stderr)
}

async function load(host: TestHost, script: string): Promise<void> {
  const result = await host.run(['nft', '-f', '-'], { input: script })
  assert.equal(result.exitCode, 0, result.stderr + script)
}

/** Pods hang on one bridge, as the node's network plugin wires them. */
async function prepare(host: TestHost): Promise<AsyncDisposable> {
  const node = `mkdir -p /run/netns; echo 1 > /proc/sys/net/ipv4/ip_forward
    ip link add pods type bridge; ip address add 10.42.0.1/24 dev pods; ip link set pods up
    echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables`
  await run(host, node)
  for (const each of ['2', '3', '4']) {
    const script = `ip netns add p${each}; ip link add v${each} type veth peer name eth0 netns p${each}
      ip link set v${each} master pods up; ip -n p${each} address add 10.42.0.${each}/24 dev eth0
      ip -n p${each} link set eth0 up; ip -n p${each} link set lo up
      ip -n p${each} route add default via 10.42.0.1
      mkdir -p /run/www${each}; echo 10.42.0.${each} > /run/www${each}/name
      ip netns exec p${each} busybox httpd -p 8080 -h /run/www${each}
      ip netns exec p${each} busybox httpd -p 9090 -h /run/www${each}`
    await run(host, script)
  }
  return {
    async [Symbol.asyncDispose]() {
      const pids = ['2', '3', '4'].map((each) => `$(ip netns pids p${each})`).join(' ')
      await host.run(['sh', '-c', `kill ${pids}`])
    },
  }
}

interface Call {
  from: string
  to: string
  port?: number
  /** What should pass has time to on a slow machine; what should not is soon given up. */
  isAllowed: boolean
}

async function isHeard(host: TestHost, { from, to, port = 8080, isAllowed }: Call) {
  const inside = from === 'node' ? [] : ['ip', 'netns', 'exec', `p${from}`]
  const url = `http://10.42.0.${to}:${port}/name`
  const bounded = ['timeout', isAllowed ? '15' : '1', 'busybox', 'wget', '-qO-', url]
  const result = await host.run([...inside, ...bounded])
  return result.stdout.trim() === `10.42.0.${to}`
}

/** Which of the three pods and the node reach web, and whom web reaches. */
async function view(host: TestHost, allowed: string): Promise<string> {
  const calls = [
    ['node', '2'],
    ['3', '2'],
    ['4', '2'],
    ['2', '3'],
    ['2', '4'],
  ] as const
  const heard = await Promise.all(
    calls.map(async ([from, to]) => {
      const call = `${from}>${to}`
      const isAllowed = allowed.split(' ').includes(call)
      return (await isHeard(host, { from, to, isAllowed })) ? call : ''
    }),
  )
  return heard.filter((call) => call !== '').join(' ')
}

const all = 'node>2 3>2 4>2 2>3 2>4'
const web = { matchLabels: { app: 'web' } }
const closed = policy('shop/closed', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
const ownIngress = policy('shop/own', {
  podSelector: web,
  ingress: [{ from: [{ podSelector: {} }] }],
})
const toBank = policy('shop/to-bank', {
  podSelector: web,
  policyTypes: ['Egress'],
  egress: [{ to: [{ namespaceSelector: { matchLabels: { team: 'bank' } } }] }],
})
const block = policy('shop/block', {
  podSelector: web,
  ingress: [
    {
      from: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.42.0.3/32'] } }],
      ports: [{ port: 'http' }],
    },
  ],
})

test('the kernel lets pass what the policies allow, and nothing else', { skip }, async (t) => {
  await using network = await createTestNetwork()
  const host = await network.addHost(1)
  await using _pods = await prepare(host)
  assert.equal(await view(host, all), all)
  let kept: NftTable | undefined
  const cases: readonly { name: string; policies: NetworkPolicy[]; heard: string }[] = [
    { name: 'default deny; the node still reaches its pods', policies: [closed], heard: 'node>2' },
    { name: 'peers of the own namespace', policies: [ownIngress], heard: 'node>2 3>2 2>3 2>4' },
    { name: 'egress to a namespace', policies: [toBank], heard: 'node>2 3>2 4>2 2>4' },
    { name: 'a block with an exception', policies: [block], heard: 'node>2 4>2 2>3 2>4' },
    { name: 'a union', policies: [closed, ownIngress, toBank], heard: 'node>2 2>4' },
    { name: 'deny again', policies: [closed], heard: 'node>2' },
  ]
  for (const { name, policies, heard } of cases) {
    await t.test(name, async () => {
      const next = tableOf(...policies)
      await load(host, kept === undefined ? renderTable(next) : renderDelta(kept, next))
      kept = next
      assert.equal(await view(host, heard), heard)
    })
  }
  await t.test('a named port, and no other', async () => {
    await load(host, renderTable(tableOf(block)))
    assert.equal(await isHeard(host, { from: '4', to: '2', isAllowed: true }), true)
    assert.equal(await isHeard(host, { from: '4', to: '2', port: 9090, isAllowed: false }), false)
  })
  await t.test('the last policy takes the whole table along', async () => {
    await load(host, renderNoPolicies())
    await load(host, renderNoPolicies())
    assert.equal(await view(host, all), all)
    assert.doesNotMatch((await host.run(['nft', 'list', 'tables'])).stdout, /skerry-policy/)
  })
})

test('without an isolated pod there is no table', () => {
  assert.equal(buildPolicyTable(planPolicies({ policies: [], namespaces, pods }, 'a')), undefined)
  const elsewhere = planPolicies({ policies: [closed], namespaces, pods }, 'b')
  assert.equal(buildPolicyTable(elsewhere), undefined)
})
