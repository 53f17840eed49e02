/** Machines with a master and an etcd member die one after the other, have a full disk, or lose it. */
import { rm, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { mountSmallDisk, whyNoEtcd } from '@skerry/testing'
import { planMember, replaceInList } from './etcd-member.ts'
import {
  hubToken,
  startMasters,
  untilReady,
  type Master,
  type MastersOnHosts,
} from './masters-on-hosts.ts'
import { MastersStory } from './masters-story.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoEtcd())

/** etcd reserves 64 MB for its log, twice. */
const diskMegabytes = 256

test('three masters whose machines die', { skip, timeout: 600_000 }, async (t) => {
  await using disk = await mountSmallDisk(diskMegabytes)
  const scene = await startMasters({ diskOf: (number) => (number === 3 ? disk.path : undefined) })
  await using _cluster = scene.cluster
  const { cluster, masters } = scene
  const story = await MastersStory.begin(scene)
  for (const master of masters) {
    const { name } = master.host
    await t.test(`${name} is killed with its etcd, and comes back`, async () => {
      await Promise.all([master.role.kill(), master.member.role.kill()])
      await story.goesOn(`${name} was killed`)
      await master.member.role.start()
      await master.role.start()
      await untilReady(cluster, master)
    })
  }
  const [first, second, third] = masters
  await t.test('the disk of one is full', async () => {
    await disk.fill()
    await third.member.role.kill()
    // It cannot start on a full disk, however often it is tried.
    await third.member.role.start()
    await story.goesOn('the disk is full')
    await untilReady(cluster, third)
    await disk.free()
    await third.member.role.kill()
    await third.member.role.start()
  })
  await t.test('one is wiped and replaced', async () => {
    await replaceMachine(second, first, scene)
    await story.goesOn('a machine was replaced')
    await untilReady(cluster, second)
  })
  await t.test('no history has a fault, and pods and watches never noticed', () => story.end())
})

/** Gives a machine with an empty disk to the others, as an operator does. */
async function replaceMachine(
  lost: Master,
  other: Master,
  { hub, masters }: MastersOnHosts,
): Promise<void> {
  await Promise.all([lost.role.kill(), lost.member.role.kill()])
  await rm(lost.member.dataDir, { recursive: true })
  await rm(lost.dataDir, { recursive: true })
  await replaceInList(lost.member, other.member)
  const hosts = masters.map(({ host }) => host)
  const place = { directory: lost.disk, state: 'existing' } as const
  await planMember(lost.host, hosts, place).role.start()
  // Its agent has a new key, for which it needs a new token.
  await writeFile(lost.agentTokenFile, (await hubToken(hub)).token)
  await lost.role.start()
}
