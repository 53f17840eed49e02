import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkPolicy } from '@skerry/api'
import { renderDelta, renderTable, type NftTable } from '../nftables/nft-table.ts'
import { namespace, peer, policy } from '../testing/policy-objects.ts'
import type { Protocol } from '../testing/pod-program.ts'
import { createPolicyScene, type PolicyScene } from '../testing/policy-scene.ts'
import { planPolicies } from './policy-plan.ts'
import { buildPolicyTable, renderNoPolicies } from './policy-table.ts'

const skip = process.getuid?.() !== 0 && 'needs root'

/** Pods, namespaces and ports of upstream's end-to-end tests of NetworkPolicy. */
const names = ['x/a', 'x/b', 'x/c', 'y/a', 'y/b', 'z/a']
const xyz = ['x', 'y', 'z']

type Spec = NonNullable<NetworkPolicy['spec']>
type Labels = Record<string, string>

/** Labels that a case adds to a namespace or a pod, by its name. */
type MoreLabels = Readonly<Record<string, Labels>>

interface Look {
  port?: number
  protocol?: Protocol
  /** The blocked pairs as `from>to`; `*` stands for every pod, `x/*` for those of x. */
  cut: string
  /** Exceptions from `cut`. */
  but?: string
}

interface Case {
  /** The name of upstream's test. */
  name: string
  policies: readonly NetworkPolicy[]
  labels?: MoreLabels
  looks: readonly Look[]
}

const podA = { matchLabels: { pod: 'a' } }
const podB = { matchLabels: { pod: 'b' } }
const nameLabel = 'kubernetes.io/metadata.name'
const inY = { matchLabels: { [nameLabel]: 'y' } }
const notX = { matchExpressions: [{ key: nameLabel, operator: 'NotIn', values: ['x'] }] }
const toA = (ingress: Spec['ingress']): NetworkPolicy =>
  policy('x/to-a', { podSelector: podA, policyTypes: ['Ingress'], ingress })
const fromA = (egress: Spec['egress'], name = 'from-a'): NetworkPolicy =>
  policy(`x/${name}`, { podSelector: podA, policyTypes: ['Egress'], egress })
const toX = (ingress: Spec['ingress'], name = 'to-x'): NetworkPolicy =>
  policy(`x/${name}`, { podSelector: {}, policyTypes: ['Ingress'], ingress })
const fromX = (egress: Spec['egress'], name = 'from-x'): NetworkPolicy =>
  policy(`x/${name}`, { podSelector: {}, policyTypes: ['Egress'], egress })
const updated = { matchLabels: { updated: 'yes' } }
const denyAll = policy('x/deny', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
const all = { port: 80, cut: '' }

const cases: readonly Case[] = [
  {
    name: 'default-deny-ingress',
    policies: [toX([])],
    looks: [{ cut: '*>x/*' }, { protocol: 'udp', cut: '*>x/*' }],
  },
  { name: 'default-deny-all', policies: [denyAll], looks: [{ cut: '*>x/* x/*>*' }] },
  {
    name: 'from pods within server namespace based on PodSelector',
    policies: [toA([{ from: [{ podSelector: podB }] }])],
    looks: [{ cut: '*>x/a', but: 'x/b>x/a' }],
  },
  {
    name: 'allow ingress traffic for a target',
    policies: [toX([]), toA([{ from: [{ podSelector: {}, namespaceSelector: {} }] }])],
    looks: [{ cut: '*>x/b *>x/c' }],
  },
  {
    name: 'from pods in all namespaces',
    policies: [toA([{ from: [{ namespaceSelector: {} }] }])],
    looks: [all],
  },
  {
    name: 'only from a different namespace, based on NamespaceSelector',
    policies: [toA([{ from: [{ namespaceSelector: inY }] }])],
    looks: [{ cut: 'x/*>x/a z/a>x/a' }],
  },
  {
    name: 'PodSelector with MatchExpressions',
    policies: [
      toA([
        {
          from: [
            { podSelector: { matchExpressions: [{ key: 'pod', operator: 'In', values: ['b'] }] } },
          ],
        },
      ]),
    ],
    looks: [{ cut: '*>x/a', but: 'x/b>x/a' }],
  },
  {
    name: 'PodSelector or NamespaceSelector',
    policies: [toA([{ from: [{ namespaceSelector: notX }, { podSelector: podB }] }])],
    looks: [{ cut: 'x/c>x/a' }],
  },
  {
    name: 'PodSelector and NamespaceSelector',
    policies: [toA([{ from: [{ namespaceSelector: notX, podSelector: podB }] }])],
    looks: [{ cut: '*>x/a', but: 'y/b>x/a' }],
  },
  {
    name: 'any PodSelectors',
    policies: [
      toA([{ from: [{ podSelector: podB }, { podSelector: { matchLabels: { pod: 'c' } } }] }]),
    ],
    looks: [{ cut: '*>x/a', but: 'x/b>x/a x/c>x/a' }],
  },
  {
    name: 'multiple, stacked policies with overlapping podSelectors',
    policies: [81, 80].map((port) =>
      policy(`x/${port}`, {
        podSelector: podA,
        ingress: [{ from: [{ namespaceSelector: inY }], ports: [{ port, protocol: 'TCP' }] }],
      }),
    ),
    looks: [
      { port: 81, cut: '*>x/a', but: 'y/*>x/a' },
      { cut: '*>x/a', but: 'y/*>x/a' },
    ],
  },
  { name: 'allow-all', policies: [toX([{}])], looks: [all, { ...all, port: 81 }] },
  {
    name: 'ingress access on one named port',
    policies: [toX([{ ports: [{ port: 'serve-81-tcp' }] }])],
    looks: [{ port: 81, cut: '' }, { cut: '*>x/*' }],
  },
  {
    name: 'ingress access from namespace on one named port',
    policies: [toA([{ from: [{ namespaceSelector: inY }], ports: [{ port: 'serve-80-tcp' }] }])],
    looks: [
      { cut: '*>x/a', but: 'y/*>x/a' },
      { port: 81, cut: '*>x/a' },
    ],
  },
  {
    name: 'egress access on one named port',
    policies: [fromX([{ ports: [{ port: 'serve-80-tcp' }] }])],
    looks: [all, { port: 81, cut: 'x/*>*' }],
  },
  {
    name: 'a range of ports, by endPort',
    policies: [toA([{ ports: [{ port: 79, endPort: 80 }] }])],
    looks: [all, { port: 81, cut: '*>x/a' }],
  },
  {
    name: 'updated namespace',
    policies: [toA([{ from: [{ namespaceSelector: updated }] }])],
    labels: { y: { updated: 'yes' } },
    looks: [{ cut: '*>x/a', but: 'y/*>x/a' }],
  },
  {
    name: 'updated pod',
    policies: [toA([{ from: [{ podSelector: updated }] }])],
    labels: { 'x/b': { updated: 'yes' } },
    looks: [{ cut: '*>x/a', but: 'x/b>x/a' }],
  },
  {
    name: 'deny ingress access to updated pod',
    policies: [policy('x/deny', { podSelector: updated, policyTypes: ['Ingress'] })],
    labels: { 'x/a': { updated: 'yes' } },
    looks: [{ cut: '*>x/a' }],
  },
  {
    name: 'deny ingress from pods on other namespaces',
    policies: [toX([{ from: [{ podSelector: {} }] }])],
    looks: [{ cut: 'y/*>x/* z/a>x/*' }],
  },
  {
    name: 'deny egress from pods based on PodSelector',
    policies: [fromA([])],
    looks: [{ cut: 'x/a>*' }],
  },
  {
    name: 'Ingress, Egress specified together',
    policies: [
      policy('x/both', {
        podSelector: podA,
        policyTypes: ['Ingress', 'Egress'],
        ingress: [{ from: [{ podSelector: podB }] }],
        egress: [{ ports: [{ port: 80 }] }],
      }),
    ],
    looks: [
      { cut: '*>x/a', but: 'x/b>x/a' },
      { port: 81, cut: '*>x/a x/a>*', but: 'x/b>x/a' },
    ],
  },
  {
    name: 'egress denied on the client side, although the server allows it',
    policies: [
      fromA([{ to: [{ namespaceSelector: inY, podSelector: podA }] }]),
      ...[podA, podB].map((podSelector, index) =>
        policy(`y/${index}`, {
          podSelector,
          ingress: [{ from: [{ namespaceSelector: { matchLabels: { [nameLabel]: 'x' } } }] }],
        }),
      ),
    ],
    looks: [{ cut: 'x/a>* y/*>y/* z/a>y/*', but: 'x/a>y/a' }],
  },
  {
    name: 'any port traffic to a server on a specific protocol',
    policies: [toA([{ ports: [{ protocol: 'TCP' }] }])],
    looks: [all, { protocol: 'udp', cut: '*>x/a' }],
  },
  {
    name: 'ingress allow-all policy taking precedence',
    policies: [toX([{ ports: [{ port: 80 }] }]), toX([{}], 'open')],
    looks: [{ port: 81, cut: '' }],
  },
  {
    name: 'egress allow-all policy taking precedence',
    policies: [fromX([{ ports: [{ port: 80 }] }]), fromX([{}], 'open')],
    looks: [{ port: 81, cut: '' }],
  },
  {
    name: 'egress access to server in CIDR block',
    policies: [fromA([{ to: [{ ipBlock: { cidr: '10.42.0.6/32' } }] }])],
    looks: [{ cut: 'x/a>*', but: 'x/a>y/b' }],
  },
  {
    name: 'except clause while egress access to server in CIDR block',
    policies: [fromA([{ to: [{ ipBlock: { cidr: '10.42.0.0/24', except: ['10.42.0.3/32'] } }] }])],
    looks: [{ cut: 'x/a>x/b' }],
  },
  {
    name: 'an IP overlapping both IPBlock.CIDR and IPBlock.Except is allowed',
    policies: [
      fromA([{ to: [{ ipBlock: { cidr: '10.42.0.0/24', except: ['10.42.0.3/32'] } }] }]),
      fromA([{ to: [{ ipBlock: { cidr: '10.42.0.3/32' } }] }], 'more'),
    ],
    looks: [all],
  },
  {
    name: 'ingress and egress policies controlled independently based on PodSelector',
    policies: [fromA([{}]), toA([])],
    looks: [{ cut: '*>x/a' }],
  },
  {
    name: "not mistakenly treat 'protocol: SCTP' as 'protocol: TCP'",
    policies: [toA([{ ports: [{ protocol: 'SCTP', port: 80 }] }])],
    looks: [{ cut: '*>x/a' }, { protocol: 'udp', cut: '*>x/a' }],
  },
  {
    name: 'not allow access by TCP when a policy specifies only UDP',
    policies: [toA([{ ports: [{ protocol: 'UDP', port: 80 }] }])],
    looks: [
      { cut: '*>x/a' },
      { protocol: 'udp', cut: '' },
      { protocol: 'udp', port: 81, cut: '*>x/a' },
    ],
  },
]

test('pods reach each other as in upstream’s tests of NetworkPolicy', { skip }, async (t) => {
  await using scene = await createPolicyScene(names)
  let kept: NftTable | undefined
  for (const { name, policies, labels = {}, looks } of cases) {
    await t.test(name, async () => {
      const next = quick(tableOf(policies, labels, scene))
      await scene.load(kept === undefined ? renderTable(next) : renderDelta(kept, next))
      kept = next
      for (const look of looks) assert.deepEqual(await cutIn(scene, look), cutOf(look))
    })
  }
  await t.test('stop enforcing policies after they are deleted', async () => {
    await scene.load(renderNoPolicies())
    assert.deepEqual(await cutIn(scene, all), [])
  })
})

function tableOf(
  policies: readonly NetworkPolicy[],
  labels: MoreLabels,
  { addressOf }: PolicyScene,
): NftTable {
  const ports = { 'serve-80-tcp': 80, 'serve-81-tcp': 81 }
  const pods = names.map((name) => {
    const own = { pod: name.slice(2), ...labels[name] }
    return peer(name, addressOf(name), { labels: own, ports })
  })
  const namespaces = xyz.map((name) => namespace(name, { [nameLabel]: name, ...labels[name] }))
  const table = buildPolicyTable(planPolicies({ policies, namespaces, pods }, 'a'))
  return table ?? { name: 'skerry-policy', sets: new Map(), chains: new Map() }
}

/** Refuses what would be dropped, so that nobody waits for an answer that does not come. */
function quick(table: NftTable): NftTable {
  const chains = [...table.chains].map(([name, chain]) => {
    const rules = chain.rules.map((rule) => (rule === 'drop' ? 'reject' : rule))
    return [name, { ...chain, rules }] as const
  })
  return { ...table, chains: new Map(chains) }
}

const pairs = names.flatMap((from) => names.flatMap((to) => (from === to ? [] : [`${from}>${to}`])))

function cutOf({ cut, but = '' }: Look): string[] {
  return pairs.filter((pair) => matches(cut, pair) && !matches(but, pair))
}

function matches(patterns: string, pair: string): boolean {
  return patterns.split(' ').some((pattern) => {
    if (pattern === '') return false
    const expression = pattern.replaceAll('*', '[^>]*')
    return new RegExp(`^${expression}$`).test(pair)
  })
}

async function cutIn(scene: PolicyScene, look: Look): Promise<string[]> {
  const { port = 80, protocol = 'tcp' } = look
  const expected = new Set(cutOf(look))
  const found = await Promise.all(
    pairs.map(async (pair) => {
      const [from = '', to = ''] = pair.split('>')
      const isExpected = !expected.has(pair)
      return (await scene.hears({ from, to, port, protocol, isExpected })) ? '' : pair
    }),
  )
  return found.filter((pair) => pair !== '')
}
