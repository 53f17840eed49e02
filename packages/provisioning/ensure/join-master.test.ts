import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepError, type HubSide } from '../contract/step.ts'
import type { MachineStatus } from '../kind/edge-cluster.ts'
import { fakeShell, type FakeShell } from '../testing/fake-shell.ts'
import { contextOn } from '../testing/target-scene.ts'
import { awaitMaster, joinMaster, joinWitness } from './join-master.ts'
import { moveToEtcd } from './move-to-etcd.ts'
import { removeMember } from './remove-member.ts'
import { startSite } from './site.ts'

const token = `abcdef.0123456789abcdef.${'k'.repeat(43)}`
const caHash = `sha256:${'a'.repeat(64)}`
const credentials = { name: 'ssh' }
const [first, second, third] = ['10.0.0.1', '10.0.0.2', '10.0.0.3']

interface World {
  /** The members that have a vote. */
  readonly votes: Set<string>
  readonly shells: Record<string, FakeShell>
  readonly known: MachineStatus[]
  readonly concealed: string[]
}

const names: Readonly<Record<string, string>> = { [first]: 'm1', [second]: 'm2', [third]: 'm3' }

/** Three machines; a unit runs once it was restarted, and its member votes a moment later. */
function worldOf(fields: { readonly refusal?: string } = {}): World {
  const votes = new Set(['m1'])
  const shells: Record<string, FakeShell> = {}
  const known: MachineStatus[] = []
  for (const [address, name] of Object.entries(names)) {
    known.push({ address, role: 'Master', site: address === first ? 'Founds' : 'Joins' })
    const running = new Set<string>()
    shells[address] = fakeShell((command, files) => {
      const text = command.join(' ')
      if (text.startsWith('uname')) return { stdout: `${name}\n` }
      if (text.startsWith('ip ')) {
        const addr_info = [{ local: address, prefixlen: 24 }]
        return { stdout: JSON.stringify([{ ifname: 'eth0', addr_info }]) }
      }
      if (text.startsWith('systemctl is-active')) {
        return { exitCode: running.has(command.at(-1) ?? '') ? 0 : 3 }
      }
      if (text.startsWith('systemctl restart')) {
        const unit = command.at(-1) ?? ''
        running.add(unit)
        votes.add(unit === 'skerry-witness' ? 'witness' : name)
        if (unit === 'skerry-site') files.set('/var/lib/skerry/site/agent/agent.crt', 'x')
      }
      if (text.startsWith('systemctl stop')) running.delete(command.at(-1) ?? '')
      if (text.includes(' site members ')) {
        const members = [...votes].map((each) => ({
          name: each,
          isLearner: false,
          isHealthy: true,
        }))
        return { stdout: JSON.stringify({ hasQuorum: true, state: 'all', members }) }
      }
      if (text.includes(' site remove-member ')) {
        if (fields.refusal !== undefined) return { exitCode: 1, stderr: fields.refusal }
        votes.delete(command.at(-1) ?? '')
      }
      if (text.includes(' token create ')) return { stdout: JSON.stringify({ token, caHash }) }
      if (text.startsWith('test -e')) return { exitCode: files.has(command.at(-1) ?? '') ? 0 : 1 }
      return undefined
    })
  }
  return { votes, shells, known, concealed: [] }
}

function contextFor(address: string, world: World, role: 'Master' | 'Witness' = 'Master') {
  const hub: Partial<HubSide> = {
    server: () => 'https://10.0.0.200:7443',
    createToken: async () => ({ token: 'zzzzzz.0123456789abcdef', caHash }),
  }
  const machines = [
    { addresses: [first, second], credentials, role: 'Master' as const },
    { addresses: [third], credentials, role },
  ]
  const highAvailability = { type: 'VirtualIP' as const, address: '10.0.0.100' }
  const spec = { machines, store: { type: 'Etcd' as const }, highAvailability }
  const context = contextOn(address, { spec, known: world.known, shells: world.shells, hub })
  return {
    ...context,
    conceal: (secrets: readonly string[]) => void world.concealed.push(...secrets),
  }
}

const siteEnv = '/etc/skerry/site.env'
const restarts = ({ commands }: FakeShell): number =>
  commands.filter(([program, verb]) => program === 'systemctl' && verb === 'restart').length

test('a further master joins with a token that only its own file has, and loses it when it serves', async () => {
  const world = worldOf()
  const context = contextFor(second, world)
  const shell = world.shells[second]
  assert.ok(shell)
  assert.equal(await joinMaster(context), 'member m2 votes')
  assert.equal(shell.files.get('/etc/skerry/master-token'), `${token}\n`)
  assert.equal(shell.modes.get('/etc/skerry/master-token'), 0o600)
  const env = shell.files.get(siteEnv) ?? ''
  for (const words of [
    '--etcd embedded --master-name m2 --advertise-address 10.0.0.2 --etcd-heartbeat 100',
    '--join https://10.0.0.1:6443 --token-file /etc/skerry/master-token',
    '--san 10.0.0.2 --san 10.0.0.100',
    '--allow-dial-dir /etc/skerry/allow-dial.d',
  ]) {
    assert.ok(env.includes(words), `${words} is not in ${env}`)
  }
  assert.ok(world.concealed.includes(token), 'the token is kept out of logs')
  const words = Object.values(world.shells).flatMap(({ commands }) => commands.flat())
  assert.ok(!words.some((word) => word.includes(token)), 'no command has the token')
  assert.equal(world.known[1]?.member, 'm2')
  await awaitMaster(context)
  assert.equal(shell.files.has('/etc/skerry/master-token'), false)
  assert.equal(shell.files.has('/etc/skerry/hub-token'), false)
  assert.doesNotMatch(shell.files.get(siteEnv) ?? '', /--join|--token-file /)
})

test('a master that has joined is left alone by a second run', async () => {
  const world = worldOf()
  const context = contextFor(second, world)
  const shell = world.shells[second]
  assert.ok(shell)
  await joinMaster(context)
  await awaitMaster(context)
  const before = [restarts(shell), shell.files.get(siteEnv)]
  await joinMaster(context)
  await awaitMaster(context)
  assert.deepEqual([restarts(shell), shell.files.get(siteEnv)], before)
})

test('a witness joins with etcd alone, twice as well as once', async () => {
  const world = worldOf()
  const context = contextFor(third, world, 'Witness')
  const shell = world.shells[third]
  assert.ok(shell)
  for (const _ of [1, 2]) assert.equal(await joinWitness(context), 'member witness votes')
  assert.equal(restarts(shell), 1)
  assert.equal(
    shell.files.get('/etc/skerry/witness.env'),
    'SKERRY_ARGS=--advertise-address 10.0.0.3 --etcd-heartbeat 100\n',
  )
  assert.equal(shell.files.has('/etc/skerry/master-token'), false)
})

test('a master that leaves loses its vote, once', async () => {
  const world = worldOf()
  world.votes.add('m2').add('m3')
  const at = world.known.findIndex(({ address }) => address === third)
  world.known[at] = { address: third, role: 'Master', site: 'Joins', member: 'm3' }
  const context = contextFor(third, world)
  for (const _ of [1, 2]) await removeMember(context)
  assert.deepEqual([...world.votes], ['m1', 'm2'])
  assert.equal(world.known[at]?.site, 'Removed')
})

test('a removal that the masters refuse fails with their reason, and the machine stays a member', async () => {
  const why = 'Cannot remove the member m3: 1 of the 2 others answer, and 2 must'
  const world = worldOf({ refusal: why })
  world.votes.add('m3')
  world.known[2] = { address: third, role: 'Master', site: 'Joins', member: 'm3' }
  await assert.rejects(removeMember(contextFor(third, world)), (error) => {
    assert.ok(error instanceof StepError)
    assert.ok(error.message.includes(why), error.message)
    return true
  })
  assert.equal(world.known[2]?.site, 'Joins')
})

test('a master whose vote was taken joins again with empty data', async () => {
  const world = worldOf()
  world.known[1] = { address: second, role: 'Master', site: 'Removed', member: 'm2' }
  const shell = world.shells[second]
  assert.ok(shell)
  shell.files.set('/var/lib/skerry/site/etcd/member.json', 'old')
  await joinMaster(contextFor(second, world))
  assert.equal(shell.files.has('/var/lib/skerry/site/etcd/member.json'), false)
  assert.equal(world.known[1]?.site, 'Joins')
})

test('a site on a file moves to its own etcd once', async () => {
  const world = worldOf()
  const context = contextFor(first, world)
  const shell = world.shells[first]
  assert.ok(shell)
  shell.files.set(siteEnv, 'SKERRY_ARGS=--name branch-7 --san 10.0.0.1\n')
  for (const _ of [1, 2]) await moveToEtcd(context)
  assert.equal(restarts(shell), 1)
  assert.match(shell.files.get(siteEnv) ?? '', /--name branch-7 .*--etcd embedded --master-name m1/)
  assert.equal(world.known[0]?.member, 'm1')
})

test('the first master starts with its etcd', async () => {
  const world = worldOf()
  await startSite(contextFor(first, world))
  const env = world.shells[first]?.files.get(siteEnv) ?? ''
  assert.match(env, /--etcd embedded --master-name m1 --advertise-address 10\.0\.0\.1/)
  assert.doesNotMatch(env, /--join/)
})

const lies = [
  '',
  'no json',
  '{}',
  '{"token":"a;b","caHash":"x"}',
  JSON.stringify({ token: 'abcdef.0123456789abcdef', caHash }),
]
for (const stdout of lies) {
  test(`a master that answers ${stdout.slice(0, 30) || 'nothing'} gives no token`, async () => {
    const world = worldOf()
    const shell = world.shells[first]
    assert.ok(shell)
    const liar = fakeShell((command) =>
      command.includes('token')
        ? { stdout }
        : command[0] === 'ip'
          ? { stdout: '[{"ifname":"e","addr_info":[{"local":"10.0.0.1"}]}]' }
          : { stdout: '{"members":[]}' },
    )
    const shells = { ...world.shells, [first]: liar }
    await assert.rejects(joinMaster(contextFor(second, { ...world, shells })), StepError)
    assert.equal(world.shells[second]?.files.has('/etc/skerry/master-token'), false)
  })
}
