/**
 * One command makes a cluster of three masters with a virtual IP. The master that holds it dies, and another one is put
 * in its place; at the end nothing is left on the machines.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestMachine, whyNoMachine, type TestHost, type TestMachine } from '@skerry/testing'
import { EdgeHub } from './edge-hub.ts'
import { assertKeepsSecrets } from './keeps-secrets.ts'
import { etcdProgram, type Members } from './embedded-masters.ts'
import { changedBetween, leftOvers } from './left-overs.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())
const program = '/usr/local/bin/skerry'
const key = ['branch-7', '--namespace', 'edges']

test('three masters with a virtual IP', { skip, timeout: 900_000 }, async (t) => {
  await using story = await Story.begin()
  await t.test('one command makes them; each votes, and kubectl works by the virtual IP', () =>
    becomeReady(story),
  )
  await t.test('kubectl and nodes go on when the holder of the address dies', () =>
    loseHolder(story),
  )
  await t.test('a new machine takes the place of the dead master', () => replaceHolder(story))
  await t.test('a deletion leaves nothing on the machines', async () => {
    const { hub } = story
    await hub.kubectl('delete', 'edgecluster', 'branch-7', '-n', 'edges', '--timeout=180s')
    for (const { machine, before } of story.living()) {
      assert.deepEqual(changedBetween(before, await leftOvers(machine)), [])
    }
  })
  await t.test('no token of a master is written anywhere', () =>
    assertKeepsSecrets(
      story.hub,
      story.living().map(({ machine }) => machine),
      [password],
    ),
  )
})

interface Member {
  readonly name: string
  readonly host: TestHost
  readonly machine: TestMachine
  readonly before: readonly string[]
  isDead: boolean
}

class Story implements AsyncDisposable {
  readonly hub: EdgeHub
  readonly members: readonly Member[]
  readonly directory: string
  readonly virtualIp: string
  readonly #owned: AsyncDisposableStack

  private constructor(parts: {
    hub: EdgeHub
    members: readonly Member[]
    directory: string
    owned: AsyncDisposableStack
  }) {
    this.hub = parts.hub
    this.members = parts.members
    this.directory = parts.directory
    this.virtualIp = parts.hub.host.address.replace(/\d+$/, '50')
    this.#owned = parts.owned
  }

  static async begin(): Promise<Story> {
    await using stack = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-masters-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const hub = stack.use(await EdgeHub.start([], { patienceMs: 400_000 }))
    const etcd = await readFile(await etcdProgram())
    const started = [11, 12, 13, 14].map(async (number) => {
      const host = await hub.network.addHost(number)
      const name = `m${number}-${process.pid.toString(36)}`
      const machine = await startTestMachine(host, name)
      const install = 'cat > /usr/local/bin/etcd; chmod 755 /usr/local/bin/etcd'
      await machine.ask(['sh', '-c', install], { input: etcd })
      await machine.ask(['chpasswd'], { input: `root:${password}\n` })
      return { name, host, machine, before: await leftOvers(machine), isDead: false }
    })
    const settled = await Promise.allSettled(started)
    for (const each of settled) if (each.status === 'fulfilled') stack.use(each.value.machine)
    return new Story({ hub, members: await Promise.all(started), directory, owned: stack.move() })
  }

  living(): readonly Member[] {
    return this.members.filter(({ isDead }) => !isDead)
  }

  /** Asks the API at the virtual IP, from the host of the hub. */
  async byVirtualIp(...args: string[]): Promise<{ exitCode: number; stdout: string }> {
    const path = join(this.directory, 'virtual.kubeconfig')
    return this.hub.kubectlBy(path, ['--request-timeout=5s', ...args])
  }

  async holder(): Promise<Member | undefined> {
    const holders: Member[] = []
    for (const member of this.living()) {
      const { stdout } = await member.machine.run(['ip', '-4', '-o', 'address', 'show'])
      if (stdout.includes(` ${this.virtualIp}/`)) holders.push(member)
    }
    return holders.length === 1 ? holders[0] : undefined
  }

  async membersAt({ machine }: Member): Promise<Members | undefined> {
    const { stdout, exitCode } = await machine.run([program, 'site', 'members', '-o', 'json'])
    // The program's own JSON.
    return exitCode === 0 ? (JSON.parse(stdout) as Members) : undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync()
  }
}

const password = 'a password of all masters'

async function becomeReady(story: Story): Promise<void> {
  const { hub, members, directory, virtualIp } = story
  const file = join(directory, 'password')
  await writeFile(file, `${password}\n`, { mode: 0o600 })
  await hub.kubectl('create', 'namespace', 'edges')
  const masters = members.slice(0, 3).map(({ machine }) => machine.address)
  const machines = masters.flatMap((each) => ['--machine', `root@${each}`, '--master', each])
  const words = ['--virtual-ip', virtualIp, '--password-file', file, '--accept-new-host-keys']
  const hubWords = ['--hub-server', hub.server]
  const made = await hub.skerry(
    'create',
    'edge-cluster',
    ...key,
    ...machines,
    ...words,
    ...hubWords,
  )
  assert.equal(made.exitCode, 0, made.stderr)
  await hub.untilPhase('Ready')
  const [first] = members
  assert.ok(first)
  const seen = await story.membersAt(first)
  assert.equal(seen?.state, 'quorum: 3 of 3 members answer')
  const admin = await first.machine.ask(['cat', '/var/lib/skerry/site/admin.kubeconfig'])
  const config = admin.replace(/server: .*/, `server: https://${virtualIp}:6443`)
  await writeFile(join(directory, 'virtual.kubeconfig'), config, { mode: 0o600 })
  await hub.until('the virtual IP to answer', async () => {
    const { exitCode, stdout } = await story.byVirtualIp('get', 'nodes', '-o', 'name')
    return exitCode === 0 && stdout.trim().split('\n').length === 3
  })
  assert.ok(await story.holder(), 'one master holds the address')
}

async function loseHolder(story: Story): Promise<void> {
  const { hub } = story
  const holder = await story.holder()
  assert.ok(holder)
  // The power of a machine takes its link with it.
  await holder.host.cut()
  await holder.machine[Symbol.asyncDispose]()
  holder.isDead = true
  const endedMs = Date.now()
  await hub.until('the virtual IP to answer again', async () => {
    const created = ['create', 'configmap', `after-${Date.now()}`, '-n', 'default']
    return (await story.byVirtualIp(...created)).exitCode === 0
  })
  console.log(`writes by the virtual IP after ${((Date.now() - endedMs) / 1_000).toFixed(1)} s`)
  for (const { name } of story.living().slice(0, 2)) {
    await hub.until(`node ${name} to renew its lease`, async () => {
      const path = '-o=jsonpath={.spec.renewTime}'
      const lease = ['get', 'lease', name, '-n', 'kube-node-lease', path]
      const { stdout } = await story.byVirtualIp(...lease)
      return Date.parse(stdout) > endedMs
    })
  }
}

async function replaceHolder(story: Story): Promise<void> {
  const { hub, members } = story
  const [dead, fresh] = [members.find(({ isDead }) => isDead), members[3]]
  assert.ok(dead && fresh)
  const addresses = [dead.machine.address, fresh.machine.address]
  const words = ['--dead', '--accept-new-host-keys']
  const told = await hub.skerry('edge-cluster', 'replace-node', ...key, ...addresses, ...words)
  assert.equal(told.exitCode, 0, told.stderr)
  await hub.until('the new master to be one of three', async () => {
    const { phase, machines } = (await hub.edge()).status
    if (phase !== 'Ready' || machines.length !== 3) return false
    const seen = await story.membersAt(fresh)
    return (
      seen?.state === 'quorum: 3 of 3 members answer' &&
      seen.members.some(({ name }) => name === fresh.name)
    )
  })
  for (const { machine } of story.living()) {
    const text = await machine.ask(['cat', '/etc/skerry/virtual-ip/keepalived.conf'])
    assert.ok(!text.includes(dead.machine.address), 'the dead master is no peer any more')
  }
  const { stdout } = await story.byVirtualIp('get', 'nodes', '-o', 'name')
  assert.deepEqual(
    stdout.trim().split('\n').toSorted(),
    story.living().map(({ name }) => `node/${name}`),
  )
}
