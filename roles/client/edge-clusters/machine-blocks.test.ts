import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import {
  machineBlocks,
  parseHostKeys,
  parseMachine,
  parseMachinesFile,
  type BlockRules,
  type NamedMachine,
} from './machine-blocks.ts'

const key = `SHA256:${'a'.repeat(43)}`
const rules: BlockRules = {
  credentials: 'ssh',
  hostKeys: new Map(),
  acceptNewHostKeys: false,
  labels: {},
}

const words: readonly (readonly [text: string, machine: NamedMachine | RegExp])[] = [
  ['10.0.0.11', { address: '10.0.0.11' }],
  ['root@10.0.0.11', { user: 'root', address: '10.0.0.11' }],
  ['shop-7.example:2222', { address: 'shop-7.example', port: 2222 }],
  ['admin@10.0.0.[11-14]:22', { user: 'admin', address: '10.0.0.[11-14]', port: 22 }],
  ['10.0.0.300', /"10\.0\.0\.300" must be an IPv4 address/],
  ['10.0.0.[14-11]', /the range ends before it begins/],
  ['root@', /is not a machine: write \[user@\]address\[:port\]/],
  ['10.0.0.11:ssh', /is not a machine/],
  ['-oProxyCommand=x', /must be an IPv4 address/],
]

for (const [text, wanted] of words) {
  test(`--machine ${text} is ${wanted instanceof RegExp ? 'refused' : 'read'}`, () => {
    if (!(wanted instanceof RegExp)) assert.deepEqual(parseMachine(text), wanted)
    else assert.throws(() => parseMachine(text), wanted)
  })
}

test('a range stays one block, but for a master and for machines with a host key of their own', () => {
  const machines = [parseMachine('10.0.0.[11-13]'), parseMachine('eva@10.0.1.[1-2]:23')]
  const hostKeys = parseHostKeys([`10.0.0.12=${key}`])
  const roles = new Map([['10.0.0.11', 'Master' as const]])
  const blocks = machineBlocks(machines, { ...rules, roles, hostKeys })
  const credentials = { name: 'ssh' }
  assert.deepEqual(blocks, [
    { addresses: ['10.0.0.11'], credentials, role: 'Master' },
    { addresses: ['10.0.0.12'], credentials, hostKeys: [key], role: 'Node' },
    { addresses: ['10.0.0.13'], credentials, role: 'Node' },
    { addresses: ['10.0.1.[1-2]'], port: 23, user: 'eva', credentials, role: 'Node' },
  ])
})

test('labels and taints are for nodes: a witness, which runs none, gets neither', () => {
  const taints = [{ key: 'a', effect: 'NoSchedule' as const }]
  const roles = new Map([['10.0.0.12', 'Witness' as const]])
  const given = { ...rules, roles, taints, labels: { tier: 'front' } }
  const blocks = machineBlocks([parseMachine('10.0.0.[11-12]')], given)
  assert.deepEqual(
    blocks.map(({ role, labels, taints: own }) => [role, labels?.['tier'], own?.length]),
    [
      ['Node', 'front', 1],
      ['Witness', undefined, undefined],
    ],
  )
})

test('a master and host keys of machines that are not given are refused', () => {
  const machines = [parseMachine('10.0.0.11')]
  const roles = new Map([['10.0.0.9', 'Master' as const]])
  assert.throws(() => machineBlocks(machines, { ...rules, roles }), /"10\.0\.0\.9"/)
  const hostKeys = parseHostKeys([`10.0.0.8=${key}`])
  assert.throws(() => machineBlocks(machines, { ...rules, hostKeys }), /"10\.0\.0\.8"/)
  assert.throws(() => parseHostKeys(['10.0.0.8=MD5:00']), /SHA256:<43 characters>/)
})

test('a file of machines is read with its quotation marks, comments and empty fields', () => {
  const text = `\uFEFFaddress,user,port,credentials,labels\r
# the shop floor
10.0.0.12,,,,\r

10.0.0.13 , admin , 2222 , own , "tier=front; shop=7"
10.0.0.[14-15]
`
  assert.deepEqual(parseMachinesFile(text, { path: 'm.csv', credentials: 'ssh' }), [
    { address: '10.0.0.12' },
    {
      address: '10.0.0.13',
      user: 'admin',
      port: 2222,
      credentials: 'own',
      labels: { tier: 'front', shop: '7' },
    },
    { address: '10.0.0.[14-15]' },
  ])
})

const badLines: readonly (readonly [line: string, why: RegExp])[] = [
  ['10.0.0.999', /^.*m\.csv, line 2: addresses\[0\]: .*must be an IPv4 address/],
  [',root', /m\.csv, line 2: address: is missing/],
  ['10.0.0.12,ro ot', /line 2: user: .*must be the name of a user/],
  ['10.0.0.12,root,ssh', /line 2: port: "ssh" is not a number/],
  ['10.0.0.12,root,70000', /line 2: port: .*must be from 1 to 65535/],
  ['10.0.0.12,root,22,Se cret', /line 2: credentials\.name: /],
  ['10.0.0.12,root,22,,tier', /line 2: labels: "tier" is not <key>=<value>/],
  ['10.0.0.12,root,22,,a b=c', /line 2: labels: /],
  ['10.0.0.12,root,22,,a=b,c', /line 2: 6 fields: there are 5/],
  ['10.0.0.12,"root', /line 2: a quotation mark is not closed/],
  ['10.0.0.[11-12]', /line 2: 10\.0\.0\.11 is in line 1 as well/],
]

for (const [line, why] of badLines) {
  test(`a file of machines with the line ${line} is refused with its number and the reason`, () => {
    const read = (): unknown =>
      parseMachinesFile(`10.0.0.11\n${line}\n`, { path: 'm.csv', credentials: 'ssh' })
    assert.throws(read, (error: unknown) => {
      assert.ok(error instanceof ExpectedError)
      assert.match(error.message, why)
      return true
    })
  })
}

test('a line without a Secret is refused if the command names none', () => {
  const read = (): unknown =>
    parseMachinesFile('10.0.0.11,,,own\n10.0.0.12\n', { path: 'm.csv', credentials: undefined })
  assert.throws(read, /line 2: credentials: name a Secret here/)
})
