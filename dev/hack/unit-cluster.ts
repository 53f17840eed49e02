/**
 * Plays the life of a unit of three nodes that becomes a cluster of its own and comes back, under a running database whose rows are
 * counted. Development only:
 *   node dev/hack/unit-cluster.ts [quiet] [cuts] [minds] [dead] [lost] [three] [three-cuts] [three-minds] [master-lost]
 *     [masters]
 * The stories are one without faults, with a hub that shows the unit; one with killed processes at each step; one of changed
 * minds; one of a node that is dead meanwhile; and one of a server that is given up as lost. In the next four the unit gets three
 * servers, and in the last one its parent has three. Needs root and the packages of end-to-end tests.
 */
import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import { whyNot } from '../e2e/prerequisites.ts'
import { Hall } from './unit-cluster/hall.ts'
import { mastersStories, unitStories } from './unit-cluster/unit-stories.ts'

const asked = process.argv.slice(2)
const all = { ...unitStories, ...mastersStories }
const unknown = asked.find((name) => !(name in all))
if (unknown !== undefined) {
  const text = `Cannot play ${unknown}: there are ${Object.keys(all).join(', ')}`
  throw new ExpectedError(text, exitCodes.usage)
}
const why = await whyNot()
if (why !== false) {
  throw new ExpectedError(`Cannot play the unit: ${why}`, exitCodes.missingDependency)
}
await playThem(unitStories, false)
await playThem(mastersStories, true)

async function playThem(stories: typeof unitStories, hasMasters: boolean): Promise<void> {
  const chosen = Object.entries(stories).filter(
    ([name]) => asked.length === 0 || asked.includes(name),
  )
  if (chosen.length === 0) return
  await using hall = await Hall.start({ hasMasters })
  for (const [name, play] of chosen) {
    const startMs = systemClock.monotonicMs()
    await hall.requireCounting(() => play(hall))
    console.log(`${name}: ${Math.round((systemClock.monotonicMs() - startMs) / 1_000)} s`)
  }
}
