import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iptablesRules } from './iptables-rules.ts'
import { nftRules } from './nft-rules.ts'
import { droppedBy, type Probe } from './packet-fate.ts'

const api: Probe = { protocol: 'tcp', port: 6_443 }

/** The rules of ufw 0.36 that matter, with further ones for users. */
const ufw = (user: string): string => `-P INPUT DROP
-P FORWARD DROP
-P OUTPUT ACCEPT
-N ufw-before-input
-N ufw-not-local
-N ufw-user-input
-A INPUT -j ufw-before-logging-input
-A INPUT -j ufw-before-input
-A ufw-before-input -i lo -j ACCEPT
-A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A ufw-before-input -m conntrack --ctstate INVALID -j DROP
-A ufw-before-input -p icmp -m icmp --icmp-type 3 -j ACCEPT
-A ufw-before-input -p udp -m udp --sport 67 --dport 68 -j ACCEPT
-A ufw-before-input -j ufw-not-local
-A ufw-before-input -d 224.0.0.251/32 -p udp -m udp --dport 5353 -j ACCEPT
-A ufw-before-input -j ufw-user-input
-A ufw-not-local -m addrtype --dst-type LOCAL -j RETURN
-A ufw-not-local -m addrtype --dst-type MULTICAST -j RETURN
-A ufw-not-local -m limit --limit 3/min --limit-burst 10 -j ufw-logging-deny
-A ufw-not-local -j DROP
-A ufw-user-input -p tcp -m tcp --dport 22 -m comment --comment "for ssh" -j ACCEPT
${user}`

const lines: readonly [what: string, rules: string, isDropped: boolean][] = [
  ['no rules', '', false],
  ['a policy that accepts', '-P INPUT ACCEPT', false],
  ['a policy that drops', '-P INPUT DROP', true],
  ['ufw that lets SSH in only', ufw(''), true],
  [
    'ufw that lets the port in',
    ufw('-A ufw-user-input -p tcp -m tcp --dport 6443 -j ACCEPT'),
    false,
  ],
  [
    'ufw that lets several ports in',
    ufw('-A ufw-user-input -p tcp -m multiport --dports 80,6000:7000 -j ACCEPT'),
    false,
  ],
  ['ufw that lets some senders in', ufw('-A ufw-user-input -s 10.0.0.0/8 -j ACCEPT'), false],
  [
    'ufw that lets the other protocol in',
    ufw('-A ufw-user-input -p udp -m udp --dport 6443 -j ACCEPT'),
    true,
  ],
  [
    'a rule that rejects everything',
    '-P INPUT ACCEPT\n-A INPUT -j REJECT --reject-with icmp-host-prohibited',
    true,
  ],
  ['a rule against one sender', '-P INPUT ACCEPT\n-A INPUT -s 10.0.0.9/32 -j DROP', false],
  [
    'a rule against other ports',
    '-P INPUT ACCEPT\n-A INPUT -p tcp -m tcp ! --dport 6443 -j DROP',
    false,
  ],
  [
    'a rule against all ports but another',
    '-P INPUT ACCEPT\n-A INPUT -p tcp -m tcp ! --dport 22 -j DROP',
    true,
  ],
  ['chains that jump in a circle', '-P INPUT DROP\n-N A\n-A INPUT -j A\n-A A -j INPUT', false],
  ['a policy for packets that pass', '-P INPUT ACCEPT\n-P FORWARD DROP', false],
]
for (const [what, rules, isDropped] of lines) {
  test(`iptables: ${what} ${isDropped ? 'keeps the API out' : 'lets the API be reached'}`, () => {
    assert.equal(droppedBy([iptablesRules(rules.split('\n'))], api).length > 0, isDropped)
  })
}

type Expression = Readonly<Record<string, unknown>>

const table = { family: 'inet', table: 'filter' }
const match = (left: Expression, right: unknown, op = '=='): Expression => ({
  match: { op, left, right },
})
const dport = { payload: { protocol: 'tcp', field: 'dport' } }
const state = { ct: { key: 'state' } }
const link = { meta: { key: 'iifname' } }

/** The answer of nft for one table: an entry chain with this policy, and further chains. */
function nft(
  policy: string,
  rules: readonly Expression[][],
  others: Readonly<Record<string, Expression[][]>> = {},
) {
  const entry = { ...table, name: 'input', type: 'filter', hook: 'input', prio: 0, policy }
  const chains = [
    { chain: entry },
    ...Object.keys(others).map((name) => ({ chain: { ...table, name } })),
  ]
  const all = Object.entries({ input: rules, ...others }).flatMap(([chain, list]) =>
    list.map((expr) => ({ rule: { ...table, chain, expr } })),
  )
  return JSON.stringify({ nftables: [{ metainfo: {} }, { table: {} }, ...chains, ...all] })
}

const accept: Expression = { accept: null }
const reject: Expression = { reject: { type: 'icmpx', expr: 'admin-prohibited' } }
const answers = [match(state, ['established', 'related'], 'in'), accept]

const texts: readonly [what: string, text: string, isDropped: boolean][] = [
  ['text that is not JSON', '{"nftables": [', false],
  ['another answer', '[]', false],
  ['a policy that accepts', nft('accept', []), false],
  ['a policy that drops', nft('drop', [answers, [match(link, 'lo'), accept]]), true],
  ['a port', nft('drop', [answers, [match(dport, 6_443), { counter: {} }, accept]]), false],
  ['another port', nft('drop', [[match(dport, 22), accept]]), true],
  [
    'a set with a range',
    nft('drop', [[match(dport, { set: [22, { range: [6_000, 7_000] }] }), accept]]),
    false,
  ],
  ['a named set', nft('drop', [[match(dport, '@open'), accept]]), false],
  ['an interface', nft('drop', [[match(link, 'eth0'), accept]]), false],
  [
    'new connections',
    nft('drop', [[match(state, 'new', 'in'), match(dport, 6_443), accept]]),
    false,
  ],
  [
    'everything but new connections',
    nft('accept', [[match(state, 'invalid', 'in'), { drop: null }]]),
    false,
  ],
  ['a limited rate', nft('accept', [[{ limit: { rate: 5 } }, { drop: null }]]), false],
  ['an end that rejects', nft('accept', [answers, [reject]]), true],
  [
    'a map of states',
    nft('drop', [
      [
        {
          vmap: {
            key: state,
            data: {
              set: [
                ['established', { accept: null }],
                ['invalid', { drop: null }],
              ],
            },
          },
        },
      ],
    ]),
    true,
  ],
  [
    'a map that lets the port in',
    nft('drop', [[{ vmap: { key: dport, data: { set: [[6_443, { accept: null }]] } } }]]),
    false,
  ],
  [
    'the zone of firewalld',
    nft(
      'accept',
      [
        answers,
        [match({ ct: { key: 'status' } }, 'dnat', 'in'), accept],
        [{ jump: { target: 'zones' } }],
        [reject],
      ],
      {
        zones: [[{ goto: { target: 'public' } }]],
        public: [[{ jump: { target: 'allow' } }], [reject]],
        allow: [[match(dport, 22), accept]],
      },
    ),
    true,
  ],
  [
    'the zone of firewalld with the port',
    nft('accept', [[{ jump: { target: 'zones' } }], [reject]], {
      zones: [[{ goto: { target: 'public' } }]],
      public: [[{ jump: { target: 'allow' } }], [reject]],
      allow: [[match(dport, 6_443), accept]],
    }),
    false,
  ],
  ['rules of iptables', nft('drop', [[{ xt: { type: 'match', name: 'tcp' } }, accept]]), false],
]
for (const [what, text, isDropped] of texts) {
  test(`nftables: ${what} ${isDropped ? 'keeps the API out' : 'lets the API be reached'}`, () => {
    assert.equal(droppedBy(nftRules(text), api).length > 0, isDropped)
  })
}

test('hostile rules are judged soon: long lists, many entries, deep sets', () => {
  const long = Array.from({ length: 60_000 }, () => '-A INPUT -s 10.0.0.1/32 -j DROP')
  assert.deepEqual(droppedBy([iptablesRules(['-P INPUT ACCEPT', ...long])], api), [])
  const deep = `${'{"set":['.repeat(20_000)}${']}'.repeat(20_000)}`
  const text = nft('drop', [[match(dport, 'deep'), accept]]).replace('"deep"', deep)
  assert.deepEqual(droppedBy(nftRules(text), api), [])
  const entries = Array.from({ length: 3_000 }, (_, at) => ({
    chain: { ...table, name: `c${at}`, type: 'filter', hook: 'input', policy: 'drop' },
  }))
  const jumps = entries.map(({ chain }) => ({
    rule: { ...table, chain: chain.name, expr: [{ jump: { target: 'c0' } }] },
  }))
  assert.ok(droppedBy(nftRules(JSON.stringify({ nftables: [...entries, ...jumps] })), api))
})

test('jumps that multiply are judged soon', () => {
  const chains = Array.from({ length: 30 }, (_, at) => `-N C${at}`)
  const jumps = Array.from({ length: 29 }, (_, at) =>
    Array.from({ length: 10 }, () => `-A C${at} -j C${at + 1}`),
  ).flat()
  const rules = ['-P INPUT DROP', ...chains, ...jumps, '-A INPUT -j C0']
  assert.deepEqual(droppedBy([iptablesRules(rules)], api), [])
})
