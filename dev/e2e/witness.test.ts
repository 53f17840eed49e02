/** Two masters and a witness on three hosts: any one of them may die. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { etcdPkiDirectory } from '@skerry/bootstrap'
import { ClusterOnHosts, type JoinToken } from './cluster-on-hosts.ts'
import {
  etcdProgram,
  joinMaster,
  kubectlAt,
  membersAt,
  runAt,
  startOnEtcd,
  tryKubectlAt,
  untilReady,
  untilState,
  type Master,
  type Story,
} from './embedded-masters.ts'
import { whyNot } from './prerequisites.ts'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'

const quorumOfAll = 'quorum: 3 of 3 members answer'

interface Scene {
  readonly story: Story
  readonly one: Master
  readonly other: Master
  readonly witness: Master
}

test('two masters and a witness', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  const embedded = ['--etcd', 'embedded', '--etcd-program', await etcdProgram()]
  await using cluster = await ClusterOnHosts.start()
  const story: Story = { cluster, embedded, masters: [] }
  const one = await startOnEtcd(story)
  const other = await joinMaster(story, { number: 2, by: one })
  await t.test('a token for a witness makes no master', () => refusesMaster(story, one))
  const witness = await joinWitness(story, one)
  const scene: Scene = { story, one, other, witness }
  await t.test('the witness is an etcd alone, without the keys of the masters', () =>
    isEtcdAlone(scene),
  )
  await t.test('a witness that is given the lead hands it to a master', () => handsLead(scene))
  await t.test('either master writes on while the other is dead', () => survivesMasters(scene))
  await t.test('both write on while the witness is dead, and it comes back', () =>
    survivesWitness(scene),
  )
})

async function tokenFor(story: Story, by: Master, name: string): Promise<readonly string[]> {
  const made = await runAt(by, 'token', 'create', '--witness', '-o', 'json')
  assert.equal(made.exitCode, 0, made.stderr)
  // The program's own JSON; the join would fail without its fields.
  const { token, caHash } = JSON.parse(made.stdout) as JoinToken
  const file = join(story.cluster.directory, `${name}.token`)
  await writeFile(file, token, { mode: 0o600 })
  const server = `https://${by.host.address}:6443`
  return ['--join', server, '--token-file', file, '--ca-hash', caHash]
}

async function refusesMaster(story: Story, by: Master): Promise<void> {
  const { cluster, embedded } = story
  const joining = await tokenFor(story, by, 'wrong')
  const host = await cluster.host(3)
  const place = ['--data-dir', join(cluster.directory, 'wrong'), '--master-name', 'master-3']
  const command = [...skerryCommand, 'site', ...place, ...embedded, ...joining]
  const { stderr, exitCode } = await host.run(command, { env: skerryEnv, timeoutMs: 60_000 })
  assert.notEqual(exitCode, 0)
  assert.match(
    stderr,
    /the token is one for a witness; make one with "skerry token create --master"/,
  )
}

async function joinWitness(story: Story, by: Master): Promise<Master> {
  const { cluster } = story
  const name = 'witness'
  const joining = await tokenFor(story, by, name)
  const host = await cluster.host(3)
  const dataDir = join(cluster.directory, name)
  await mkdir(dataDir)
  const place = ['--data-dir', dataDir, '--etcd-program', await etcdProgram()]
  const logFile = join(cluster.directory, `${name}.log`)
  const command = [...skerryCommand, 'witness', ...place, ...joining]
  const role = new RoleProcess({ host, name, command, logFile })
  cluster.roles.push(role)
  await role.start()
  await untilEtcd(cluster, role)
  return { name, host, role, dataDir }
}

/** The process has become another program, under the same number. */
async function untilEtcd(cluster: ClusterOnHosts, role: RoleProcess): Promise<void> {
  await cluster.waitFor('the witness to become etcd', async () =>
    basename(await readlink(`/proc/${role.pid}/exe`)) === 'etcd' ? true : undefined,
  )
}

async function isEtcdAlone({ story, one, other, witness }: Scene): Promise<void> {
  const { members } = await untilState(story, one, quorumOfAll)
  const named = members.filter((each) => each.isWitness).map(({ name }) => name)
  assert.deepEqual(named, ['witness'])
  const held = await readdir(witness.dataDir, { recursive: true })
  const keys = held.filter((path) => path.endsWith('.key') && !path.startsWith('pki/etcd/'))
  assert.deepEqual(keys, [])
  assert.ok((await readdir(join(other.dataDir, 'pki'))).includes('replica.key'))
}

async function handsLead({ story, one, witness }: Scene): Promise<void> {
  const program = join(import.meta.dirname, 'move-leader.ts')
  const pki = etcdPkiDirectory(join(one.dataDir, 'pki'))
  const words = [process.execPath, program, 'https://127.0.0.1:2379', pki, witness.name]
  const { exitCode, stderr } = await one.host.run(words, { timeoutMs: 60_000 })
  assert.equal(exitCode, 0, stderr)
  await story.cluster.waitFor('a master to lead', async () => {
    const { members } = await membersAt(one)
    return members.some((each) => each.isLeader && !each.isWitness) ? true : undefined
  })
}

async function survivesMasters({ story, one, other }: Scene): Promise<void> {
  const { cluster } = story
  for (const [dead, living] of [
    [one, other],
    [other, one],
  ] as const) {
    await untilState(story, living, quorumOfAll)
    await dead.role.kill()
    await writes(cluster, living, `without-${dead.name}`)
    await dead.role.start()
    await untilReady(cluster, dead)
    await kubectlAt(cluster, dead, 'get', 'configmap', `without-${dead.name}`)
  }
}

async function survivesWitness({ story, one, other, witness }: Scene): Promise<void> {
  const { cluster } = story
  await untilState(story, one, quorumOfAll)
  await witness.role.kill()
  await untilState(story, one, 'quorum: 2 of 3 members answer; silent: witness')
  await writes(cluster, one, 'without-witness-1')
  await writes(cluster, other, 'without-witness-2')
  await witness.role.start()
  await untilEtcd(cluster, witness.role)
  await untilState(story, one, quorumOfAll)
}

async function writes(cluster: ClusterOnHosts, master: Master, name: string): Promise<void> {
  await cluster.waitFor(`${master.name} to write`, async () => {
    const made = await tryKubectlAt(cluster, master, 'create', 'configmap', name)
    return made.exitCode === 0 || made.stderr.includes('already exists') ? true : undefined
  })
}
