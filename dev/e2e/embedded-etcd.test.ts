/** Three masters in three hosts, each with an etcd of its own that the site runs: growth, deaths, and recovery. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ClusterOnHosts } from './cluster-on-hosts.ts'
import {
  etcdProgram,
  joinMaster,
  kubectlAt,
  membersAt,
  runAt,
  skerryAt,
  startOnEtcd,
  tryKubectlAt,
  untilReady,
  untilState,
  type Master,
  type Story,
} from './embedded-masters.ts'
import { whyNot } from './prerequisites.ts'
import { RoleProcess, skerryCommand } from './role-process.ts'

test('masters with an etcd of their own', { skip: await whyNot(), timeout: 600_000 }, async (t) => {
  const embedded = ['--etcd', 'embedded', '--etcd-program', await etcdProgram()]
  await using cluster = await ClusterOnHosts.start()
  const story: Story = { cluster, embedded, masters: [] }
  await t.test('a site moves from its file to its own etcd, and watches could go on', () =>
    moveToEtcd(story),
  )
  await t.test('one master becomes three while it serves', () => grow(story))
  await t.test('an etcd that was killed is started again', () => killEtcd(story))
  await t.test('a master that was removed joins again over its old data', () => comeBack(story))
  await t.test('the others go on without the leader, and one command replaces it', () =>
    replaceLeader(story),
  )
  await t.test('a master without quorum says so, and goes on alone after `recover`', () =>
    goOnAlone(story),
  )
  await t.test('a master goes back to a snapshot, and no revision comes again', () =>
    goBackToSnapshot(story),
  )
  await t.test('the last master goes back to a file', () => backToFile(story))
})

async function moveToEtcd(story: Story): Promise<void> {
  const { cluster } = story
  await cluster.kubectl('create', 'configmap', 'before')
  const asked = ['get', 'configmap', 'before', '-o', 'jsonpath={.metadata.resourceVersion}']
  const before = await cluster.kubectl(...asked)
  const first = await startOnEtcd(story)
  assert.equal(await kubectlAt(cluster, first, ...asked), before)
  story.masters = [first]
}

async function grow(story: Story): Promise<void> {
  const { cluster, masters } = story
  const [first] = masters
  assert.ok(first)
  // etcd takes one learner at a time: the other one waits for its turn.
  const joined = [2, 3].map((number) => joinMaster(story, { number, by: first }))
  story.masters = [first, ...(await Promise.all(joined))]
  for (const each of story.masters) {
    const found = await kubectlAt(cluster, each, 'get', 'configmap', 'before', '-o', 'name')
    assert.equal(found.trim(), 'configmap/before')
  }
  const { members } = await untilState(story, first, 'quorum: 3 of 3 members answer')
  for (const { name } of story.masters) {
    const found = members.find((each) => each.name === name)
    assert.deepEqual([found?.isLearner, found?.isHealthy], [false, true], name)
  }
}

async function killEtcd(story: Story): Promise<void> {
  const { cluster, masters } = story
  const [first, second] = masters
  assert.ok(first && second)
  const pid = (): Promise<string> => readFile(join(second.dataDir, 'etcd', 'etcd.pid'), 'utf8')
  const before = await pid()
  process.kill(Number(before), 'SIGKILL')
  await cluster.waitFor('etcd to run again', async () => (await pid()) !== before || undefined)
  await untilState(story, first, 'quorum: 3 of 3 members answer')
}

async function comeBack(story: Story): Promise<void> {
  const { cluster, masters } = story
  const [first, second, third] = masters
  assert.ok(first && second && third)
  const removed = await skerryAt(first, 'remove-member', third.name)
  assert.equal(removed.exitCode, 0, removed.stderr)
  await untilState(story, first, 'quorum: 2 of 2 members answer')
  await cluster.waitFor('the removed master to say so', async () => {
    const said = `another master has removed ${third.name}: stop this site`
    return (await readFile(third.role.logFile, 'utf8')).includes(said) ? true : undefined
  })
  // Its command still names another master and a token.
  await third.role.stop()
  await third.role.start()
  await untilState(story, first, 'quorum: 3 of 3 members answer')
  await untilReady(cluster, third)
  await kubectlAt(cluster, third, 'get', 'configmap', 'before')
}

async function replaceLeader(story: Story): Promise<void> {
  const { cluster, masters } = story
  const [first] = masters
  assert.ok(first)
  const { members } = await membersAt(first)
  const leader = masters.find(({ name }) =>
    members.some((each) => each.isLeader && each.name === name),
  )
  const living = masters.filter((each) => each !== leader)
  const [one, other] = living
  assert.ok(leader && one && other)
  await leader.role.kill()
  await cluster.waitFor('the others to write', async () => {
    const made = await tryKubectlAt(cluster, one, 'create', 'configmap', 'without-leader')
    return made.exitCode === 0 ? true : undefined
  })
  await untilState(story, other, `quorum: 2 of 3 members answer; silent: ${leader.name}`)
  const refused = await skerryAt(one, 'remove-member', other.name)
  assert.match(
    refused.stderr,
    /1 of the 2 others answer, and 2 must; remove or start master-\d first/,
  )
  const next = await joinMaster(story, { number: 4, by: one, replaces: leader.name })
  story.masters = [...living, next]
  await untilState(story, one, 'quorum: 3 of 3 members answer')
  await kubectlAt(cluster, next, 'get', 'configmap', 'without-leader')
}

async function goOnAlone(story: Story): Promise<void> {
  const { cluster, masters } = story
  const [one, ...others] = masters
  assert.ok(one)
  for (const { role } of others) await role.kill()
  await cluster.waitFor('the last one to say that it lost the quorum', async () => {
    const { stdout, stderr } = await tryKubectlAt(cluster, one, 'get', '--raw', '/readyz?verbose')
    return /quorum lost: 1 of 3 members answer/.test(stdout + stderr) ? true : undefined
  })
  const seen = await readsOldState(cluster, one)
  const refused = await skerryAt(one, 'remove-member', others[0]?.name ?? '')
  assert.match(refused.stderr, /quorum lost: 1 of 3 members answer.*skerry site recover/)
  const running = await skerryAt(one, 'recover', '--yes', '--etcd-program', await etcdProgram())
  assert.match(running.stderr, /stop it first/)
  await one.role.kill()
  const recovered = await skerryAt(one, 'recover', '--yes', '--etcd-program', await etcdProgram())
  assert.equal(recovered.exitCode, 0, recovered.stderr)
  await one.role.start()
  await untilReady(cluster, one)
  await kubectlAt(cluster, one, 'get', 'configmap', 'before', 'without-leader')
  await untilState(story, one, 'quorum: 1 of 1 members answer')
  // The others may have acknowledged more than this one had: what they told clients does not come again as something else.
  const listed = await kubectlAt(cluster, one, 'get', '--raw', configMaps)
  assert.ok(listVersion(listed) > seen + 1_000_000, `${listVersion(listed)} after ${seen}`)
  await refusesWatch(cluster, one, String(seen + 1_000))
  story.masters = [one]
}

const configMaps = '/api/v1/namespaces/default/configmaps'

function listVersion(text: string): number {
  const { metadata } = JSON.parse(text)
  return Number(metadata.resourceVersion)
}

/** A client of before, which has seen what is lost, is told to list again. */
async function refusesWatch(
  cluster: ClusterOnHosts,
  master: Master,
  version: string,
): Promise<void> {
  const watching = `${configMaps}?watch=1&resourceVersion=${version}`
  const { stdout } = await tryKubectlAt(cluster, master, 'get', '--raw', watching)
  assert.match(stdout, /"code":410/)
}

/**
 * Without a quorum a master answers reads that accept an older state, and neither newest reads nor writes. Returns the
 * version of that state.
 */
async function readsOldState(cluster: ClusterOnHosts, master: Master): Promise<number> {
  const old = await kubectlAt(cluster, master, 'get', '--raw', `${configMaps}?resourceVersion=0`)
  assert.match(old, /"name":"without-leader"/)
  const newest = await tryKubectlAt(cluster, master, 'get', '--raw', configMaps)
  assert.notEqual(newest.exitCode, 0, newest.stdout)
  const made = await tryKubectlAt(cluster, master, 'create', 'configmap', 'refused')
  assert.notEqual(made.exitCode, 0)
  return listVersion(old)
}

async function goBackToSnapshot({ cluster, masters }: Story): Promise<void> {
  const [master] = masters
  assert.ok(master)
  const snapshot = join(cluster.directory, 'snapshot.db')
  const saved = await runAt(master, 'backup', snapshot)
  assert.equal(saved.exitCode, 0, saved.stderr)
  await kubectlAt(cluster, master, 'create', 'configmap', 'after-the-snapshot')
  const last = await versionOf(cluster, master, 'after-the-snapshot')
  await master.role.kill()
  const program = ['--etcd-program', await etcdProgram()]
  const torn = join(cluster.directory, 'torn.db')
  await writeFile(torn, (await readFile(snapshot)).subarray(0, 40_000))
  const refused = await skerryAt(master, 'recover', '--yes', '--snapshot', torn, ...program)
  assert.match(refused.stderr, /torn\.db is not a whole snapshot of etcd/)
  const recovered = await skerryAt(master, 'recover', '--yes', '--snapshot', snapshot, ...program)
  assert.equal(recovered.exitCode, 0, recovered.stderr)
  await master.role.start()
  await untilReady(cluster, master)
  await kubectlAt(cluster, master, 'get', 'configmap', 'before', 'without-leader')
  const gone = await tryKubectlAt(cluster, master, 'get', 'configmap', 'after-the-snapshot')
  assert.match(gone.stderr, /NotFound/)
  await kubectlAt(cluster, master, 'create', 'configmap', 'later')
  assert.ok(Number(await versionOf(cluster, master, 'later')) > Number(last))
  await refusesWatch(cluster, master, last)
}

function versionOf(cluster: ClusterOnHosts, master: Master, name: string): Promise<string> {
  const asked = ['get', 'configmap', name, '-o', 'jsonpath={.metadata.resourceVersion}']
  return kubectlAt(cluster, master, ...asked)
}

/** The same versions of objects again, from a file. */
async function backToFile({ cluster, masters }: Story): Promise<void> {
  const [master] = masters
  assert.ok(master)
  const before = await versionOf(cluster, master, 'before')
  assert.equal(await master.role.stop(), 0)
  const left = await skerryAt(master, 'leave-etcd', '--etcd-program', await etcdProgram())
  assert.equal(left.exitCode, 0, left.stderr)
  const { host, dataDir } = master
  const command = [...skerryCommand, 'site', '--data-dir', dataDir]
  const logFile = join(cluster.directory, 'alone.log')
  const role = new RoleProcess({ host, name: 'alone', command, logFile })
  cluster.roles.push(role)
  await role.start()
  await untilReady(cluster, { ...master, role })
  assert.equal(await versionOf(cluster, { ...master, role }, 'before'), before)
}
