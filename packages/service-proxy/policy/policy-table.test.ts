import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkPolicy } from '@skerry/api'
import { renderDelta, renderTable, type NftTable } from '../nftables/nft-table.ts'
import { planAddresses } from '../services/address-plan.ts'
import { planServicePorts } from '../services/service-ports.ts'
import { buildServiceTable } from '../services/service-table.ts'
import { namespace, peer, policy } from '../testing/policy-objects.ts'
import { createPolicyScene, type Call, type PolicyScene } from '../testing/policy-scene.ts'
import { service, slice } from '../testing/service-objects.ts'
import { planPolicies } from './policy-plan.ts'
import { buildPolicyTable, renderNoPolicies } from './policy-table.ts'

const skip = process.getuid?.() !== 0 && 'needs root'

const namespaces = [namespace('shop', { team: 'shop' })]
const names = ['shop/web', 'shop/front', 'shop/other']
const labelsOf = (name: string) => ({ app: name.slice(5) })
const front = { matchLabels: { app: 'front' } }
const web = { matchLabels: { app: 'web' } }
const closed = policy('shop/closed', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
const toWeb = (ports: { port: number; protocol?: string }[], ...from: { podSelector: object }[]) =>
  policy('shop/to-web', { podSelector: web, ingress: [{ from, ports }] })

function tableOf(policies: NetworkPolicy[], addressOf: (pod: string) => string): NftTable {
  const pods = names.map((name) => peer(name, addressOf(name), { labels: labelsOf(name) }))
  const table = buildPolicyTable(planPolicies({ policies, namespaces, pods }, 'a'))
  assert.ok(table)
  return table
}

/** A service of shop/web: port 8000 of its address and 30080 of the node lead to port 80. */
function serviceTable(address: string): NftTable {
  const both = ['TCP', 'UDP'].map((protocol) => ({ name: protocol, protocol }))
  const object = service('web', {
    type: 'NodePort',
    clusterIP: '10.43.0.20',
    clusterIPs: ['10.43.0.20'],
    ports: both.map((port) => ({ ...port, port: 8000, nodePort: 30080 })),
  })
  const endpoints = slice('web', [{ address }])
  const slices = [{ ...endpoints, ports: both.map((port) => ({ ...port, port: 80 })) }]
  const network = {
    clusterCidr: '10.42.0.0/16',
    serviceCidr: '10.43.0.0/16',
    podCidr: '10.42.0.0/24',
    ownAddresses: [],
    nodeAddresses: [],
    reservedAddresses: [],
  }
  const plan = planAddresses(planServicePorts([object], slices, { nodeName: 'a' }), network)
  return buildServiceTable(plan, network)
}

async function expectAll(scene: PolicyScene, calls: readonly Call[]): Promise<void> {
  const heard = await Promise.all(calls.map((call) => scene.hears(call)))
  const shown = (isHeard: boolean, { from, to, port, protocol }: Call): string =>
    `${from} ${isHeard ? 'reaches' : 'does not reach'} ${to}:${port} ${protocol ?? 'tcp'}`
  assert.deepEqual(
    calls.map((call, at) => shown(heard[at] ?? false, call)),
    calls.map((call) => shown(call.isExpected, call)),
  )
}

test('the kernel enforces policies', { skip }, async (t) => {
  await using scene = await createPolicyScene(names)
  const { addressOf } = scene
  const load = (...policies: NetworkPolicy[]) =>
    scene.load(renderTable(tableOf(policies, addressOf)))
  const direct = (from: string, isExpected: boolean, port = 80): Call => ({
    from,
    to: 'shop/web',
    port,
    isExpected,
  })

  await t.test('the node reaches its pods, whatever is denied', async () => {
    await load(closed)
    await expectAll(scene, [direct('node', true), direct('shop/front', false)])
  })

  await t.test('a client that may open a connection gets its answers', async () => {
    await load(
      closed,
      policy('shop/out', { podSelector: front, policyTypes: ['Egress'], egress: [{}] }),
      toWeb([{ port: 80 }], { podSelector: front }),
    )
    await expectAll(scene, [
      direct('shop/front', true),
      { from: 'shop/web', to: 'shop/front', port: 80, isExpected: false },
    ])
  })

  await t.test('a connection ends with the right to it, and with no other change', async () => {
    await scene.load(renderNoPolicies())
    const kept = await scene.open('shop/front', 'shop/web', 80)
    const cut = await scene.open('shop/other', 'shop/web', 80)
    const first = tableOf([toWeb([{ port: 80 }], { podSelector: front })], addressOf)
    await scene.load(renderTable(first))
    assert.deepEqual(await Promise.all([kept(true), cut(false)]), [true, false])
    const next = tableOf([toWeb([{ port: 80 }], { podSelector: front }), closed], addressOf)
    await scene.load(renderDelta(first, next))
    assert.equal(await kept(false), false)
  })

  await t.test("rules apply to the pod behind a service, and to the pod's port", async () => {
    await scene.load(renderTable(serviceTable(addressOf('shop/web'))))
    const ways = [
      { to: '10.43.0.20', port: 8000 },
      { to: scene.host.address, port: 30080 },
    ]
    const by = (from: string, isExpected: boolean): Call[] =>
      ways.flatMap((way) =>
        (['tcp', 'udp'] as const).map((protocol) => ({
          ...way,
          from,
          protocol,
          answers: 'shop/web',
          isExpected,
        })),
      )
    // Another machine has no route to the service's own address.
    const nodePort = by('outside', true).slice(2)
    const ports = [{ port: 80 }, { port: 80, protocol: 'UDP' }]
    await load(toWeb(ports, { podSelector: front }))
    await expectAll(scene, [
      ...by('shop/front', true),
      ...by('shop/other', false),
      // A pod reaches itself through its own service, although nobody is let in from there.
      ...by('shop/web', true),
      ...nodePort.map((call) => ({ ...call, isExpected: false })),
    ])
    await load(toWeb([{ port: 8000 }], { podSelector: front }))
    await expectAll(scene, by('shop/front', false))
    const [net = ''] = scene.host.address.split(/\.\d+$/)
    const fromOutside = { ipBlock: { cidr: `${net}.0/24`, except: [`${net}.1/32`] } }
    const spec = { podSelector: web, ingress: [{ from: [fromOutside], ports }] }
    await load(policy('shop/outside', spec))
    await expectAll(scene, [...nodePort, direct('shop/front', false)])
  })

  await t.test('the rules follow a pod to another address', async () => {
    const only = [policy('shop/only', { podSelector: front, policyTypes: ['Egress'] })]
    const before = tableOf(only, addressOf)
    await scene.load(renderTable(before))
    await expectAll(scene, [direct('shop/front', false), direct('shop/other', true)])
    const swapped = new Map([
      ['shop/front', addressOf('shop/other')],
      ['shop/other', addressOf('shop/front')],
      ['shop/web', addressOf('shop/web')],
    ])
    const after = tableOf(only, (name) => swapped.get(name) ?? '')
    await scene.load(renderDelta(before, after))
    await expectAll(scene, [direct('shop/front', true), direct('shop/other', false)])
  })

  await t.test('the last policy takes the whole table with it', async () => {
    await scene.load(renderNoPolicies())
    await scene.load(renderNoPolicies())
    await expectAll(scene, [direct('shop/front', true), direct('shop/other', true)])
    const { stdout } = await scene.host.run(['nft', 'list', 'tables'])
    assert.doesNotMatch(stdout, /skerry-policy/)
  })
})

test('without an isolated pod there is no table', () => {
  const pods = [peer('shop/web', '10.42.0.2', { labels: labelsOf('shop/web') })]
  assert.equal(buildPolicyTable(planPolicies({ policies: [], namespaces, pods }, 'a')), undefined)
  const elsewhere = planPolicies({ policies: [closed], namespaces, pods }, 'b')
  assert.equal(buildPolicyTable(elsewhere), undefined)
})
