/** Links between three masters are cut, one way or both, or are long and bad; the clock of one jumps by years. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoEtcd, type TestHost } from '@skerry/testing'
import { cutHosts, type CutWay } from '../../testing/hosts/cut-hosts.ts'
import { startMasters, untilReady, type Master } from './masters-on-hosts.ts'
import { MastersStory } from './masters-story.ts'
import { whyNot } from './prerequisites.ts'
import { skerryCommand } from './role-process.ts'
import { WallClock } from './wall-clock.ts'

const skip = (await whyNot()) || (await whyNoEtcd())

interface Cut {
  readonly title: string
  /** Cuts the machine off from the others, and so away from the leader or with it. */
  readonly isLeader: boolean
  readonly way: CutWay
}

const cuts: readonly Cut[] = [
  { title: 'a follower is cut off', isLeader: false, way: 'both' },
  { title: 'the leader is cut off from two', isLeader: true, way: 'both' },
  { title: 'the leader hears nothing and is heard', isLeader: true, way: 'in' },
]

/** The round trip is 100 ms. */
const slow = { oneWayMs: 50, lossPercent: 2 }

test('three masters whose links are cut', { skip, timeout: 600_000 }, async (t) => {
  await using clock = await WallClock.start()
  const scene = await startMasters({
    commandOf: (number) => (number === 3 ? clock.command : skerryCommand),
  })
  await using _cluster = scene.cluster
  const { cluster, masters } = scene
  const story = await MastersStory.begin(scene)
  const hosts = (left: Master): TestHost[] =>
    masters.filter((each) => each !== left).map(({ host }) => host)
  for (const { title, isLeader, way } of cuts) {
    await t.test(title, async () => {
      const leader = await story.leader(masters[0])
      const chosen = isLeader ? leader : masters.find((each) => each !== leader)
      assert.ok(chosen)
      {
        await using _cut = await cutHosts(chosen.host, hosts(chosen), way)
        await story.goesOn(title)
      }
      await untilReady(cluster, chosen)
    })
  }
  await t.test('one is far away, and packets are lost', async () => {
    await using _slow = await masters[0].host.slow(slow)
    await story.goesOn('one is far away')
  })
  for (const offset of ['+3y', '-3y']) {
    await t.test(`the clock of one jumps by ${offset}`, async () => {
      await clock.set(offset)
      await story.goesOn(`the clock jumped by ${offset}`)
      await clock.set('+0')
    })
  }
  await t.test('no history has a fault, and pods and watches never noticed', () => story.end())
})
