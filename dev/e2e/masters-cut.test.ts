/** The links between three masters fail in every way, and the clock of one jumps, under load. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoEtcd } from '@skerry/testing'
import { failLinks, type LinkFault } from './fail-links.ts'
import { startMasters, tryKubectlAt, untilReady, type Master } from './masters-on-hosts.ts'
import { MastersStory } from './masters-story.ts'
import { whyNot } from './prerequisites.ts'
import { waitFor } from './wait-for.ts'
import { WallClock } from './wall-clock.ts'

const skip = (await whyNot()) || (await whyNoEtcd())

/** Between two masters, 100 ms there and back, and 2 % of packets are lost. */
const cable = { oneWayMs: 25, lossPercent: 1 }

const faults: readonly LinkFault[] = ['cut', 'unheard', 'deaf']
const words: Readonly<Record<LinkFault, string>> = {
  cut: 'is cut off from the others',
  unheard: 'hears the others, and they do not hear it',
  deaf: 'is heard by the others, and does not hear them',
}

test('three masters whose links fail', { skip, timeout: 600_000 }, async (t) => {
  await using clock = await WallClock.start()
  const scene = await startMasters({ commandOf: () => clock.command })
  await using _cluster = scene.cluster
  const story = await MastersStory.begin(scene)
  const { cluster, masters } = scene
  for (const fault of faults) {
    await t.test(`the leader ${words[fault]}`, async () => {
      const leader = await leaderOf(story)
      const others = masters.filter((each) => each !== leader).map(({ host }) => host)
      {
        await using _failed = await failLinks(fault, leader.host, others)
        await story.goesOn(`the leader ${words[fault]}`)
        await refuses(story, leader)
      }
      await untilReady(cluster, leader)
      await story.goesOn('the link is whole again')
    })
  }
  await t.test('each link is slow and loses packets', async () => {
    await using cables = new AsyncDisposableStack()
    for (const { host } of masters) cables.use(await host.slow(cable))
    await story.goesOn('links are slow', { writes: 60 })
  })
  await t.test('the clocks of all jump forward by an hour, and back', async () => {
    await clock.set('+1h')
    await story.goesOn('the clocks are an hour ahead', { writes: 300 })
    await clock.set('+0')
    await story.goesOn('the clocks are right again', { writes: 300 })
  })
  await t.test('no history has a fault, and pods and watches never noticed', () => story.end())
})

/** Any master may be the one that is asked. */
async function leaderOf(story: MastersStory): Promise<Master> {
  return waitFor('a leader', () => story.leader(story.scene.masters[0]))
}

/** A master that is cut off from the store says so, and acknowledges nothing. */
async function refuses({ scene: { cluster } }: MastersStory, master: Master): Promise<void> {
  await cluster.waitFor(`${master.host.name} to say that it is not ready`, async () => {
    const { exitCode } = await tryKubectlAt(cluster, master, 'get', '--raw', '/readyz')
    return exitCode === 0 ? undefined : true
  })
  const made = await tryKubectlAt(cluster, master, 'create', 'configmap', 'refused')
  assert.notEqual(made.exitCode, 0)
}
