import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestNetwork } from '@skerry/testing'
import type { EdgeClusterSpec, MachineStatus } from '../kind/edge-cluster.ts'
import { ShellError } from '../contract/shell.ts'
import { fakeShell } from '../testing/fake-shell.ts'
import { contextOn } from '../testing/target-scene.ts'
import { holderScript } from './holder-script.ts'
import { virtualIpFinding } from './virtual-ip-holder.ts'

const isRoot = process.getuid?.() === 0
const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
const answer = '02:00:00:aa:bb:cc eth0'
const made: readonly MachineStatus[] = addresses.map((address) => ({
  address,
  role: 'Master',
  isChanged: true,
}))

interface World {
  /** The output of the script on each machine; one that is not named does not answer. */
  readonly prints: Readonly<Record<string, string>>
  readonly known?: readonly MachineStatus[]
  readonly isMember?: boolean
  readonly spec?: Partial<EdgeClusterSpec>
}

function findingOn({ prints, known = [], isMember = false, spec = {} }: World) {
  const away = fakeShell(() => {
    throw new ShellError('unreachable', 'nobody is there')
  })
  const shells = Object.fromEntries(
    addresses.map((address) => {
      const stdout = prints[address]
      return [address, stdout === undefined ? away : fakeShell(() => ({ stdout }))]
    }),
  )
  const machines = [{ addresses, credentials: { name: 'ssh' }, role: 'Master' as const }]
  const highAvailability = { type: 'VirtualIP' as const, address: '10.0.0.100' }
  const whole = { machines, highAvailability, ...spec }
  const context = contextOn('10.0.0.1', { spec: whole, known: [...known], shells })
  return virtualIpFinding(context, { isMember })
}

const strange =
  /^the device 02:00:00:aa:bb:cc, on its interface eth0, has .* 10\.0\.0\.100 already: /
const own = /^it has spec\.highAvailability\.address 10\.0\.0\.100 itself, .*: remove it/
const silent = { '10.0.0.2': '', '10.0.0.3': '' }
const cases: readonly [what: string, world: World, expected: RegExp | undefined][] = [
  ['an address that nobody has', { prints: { '10.0.0.1': '' } }, undefined],
  ['that of a stranger', { prints: { ...silent, '10.0.0.1': `${answer}\n` } }, strange],
  [
    'that of a stranger, to a machine whose neighbours are not made and do not answer',
    { prints: { '10.0.0.1': answer } },
    strange,
  ],
  [
    'that which another master holds',
    { prints: { '10.0.0.1': answer, '10.0.0.2': answer, '10.0.0.3': 'own\n' } },
    undefined,
  ],
  [
    'that which a master may hold that does not answer',
    { prints: { '10.0.0.1': answer, '10.0.0.2': answer }, known: made },
    undefined,
  ],
  [
    'that which a master may hold that leaves',
    {
      prints: { ...silent, '10.0.0.1': answer },
      known: [{ address: '10.0.0.9', role: 'Master', isChanged: true }],
    },
    undefined,
  ],
  ['its own, on a strange machine', { prints: { '10.0.0.1': 'own' } }, own],
  ['its own, on a member', { prints: { '10.0.0.1': 'own' }, isMember: true }, undefined],
  ['one that answers in odd words', { prints: { '10.0.0.1': 'x'.repeat(100_000) } }, undefined],
  [
    'the address of a balancer',
    {
      prints: { '10.0.0.1': answer },
      spec: { highAvailability: { type: 'Balancer', address: '10.0.0.100' } },
    },
    undefined,
  ],
]
for (const [what, world, expected] of cases) {
  test(`${what} is ${expected === undefined ? 'no finding' : 'found'}`, async () => {
    const found = await findingOn(world)
    if (expected === undefined) assert.equal(found, undefined)
    else assert.match(found ?? '', expected)
  })
}

test(
  'a machine asks its network who has an address, and knows when that has gone',
  { skip: !isRoot && 'needs root' },
  async () => {
    await using network = await createTestNetwork()
    const asking = await network.addHost(1)
    const device = await network.addHost(2)
    const holder = async (address: string): Promise<string> => {
      const { stdout } = await asking.run(['sh', '-c', holderScript, 'sh', address])
      return stdout.trim()
    }
    const link = await device.run(['ip', '-json', 'link', 'show', 'up'])
    // The answer of ip itself.
    const links = JSON.parse(link.stdout) as readonly { ifname: string; address: string }[]
    const cable = links.find(({ ifname }) => ifname !== 'lo')
    const [mac = '', behind] = (await holder(device.address)).split(' ')
    assert.equal(mac, cable?.address)
    assert.match(behind ?? '', /^\w+$/)
    assert.equal(await holder(asking.address), 'own')
    const taken = device.address.replace(/\d+$/, '100')
    assert.equal(await holder(taken), '')
    const address = [`${taken}/32`, 'dev', cable?.ifname ?? '']
    await device.run(['ip', 'address', 'add', ...address])
    assert.equal((await holder(taken)).split(' ')[0], mac)
    await device.run(['ip', 'address', 'del', ...address])
    assert.equal(await holder(taken), '')
  },
)
