import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnitWorld } from './testing/unit-world.ts'

const seeds = [1, 2, 3].map((at) => 20_261_129 + at)

for (const seed of seeds) {
  // Every second one has a parent of several masters.
  const isShared = seed % 2 === 0
  test(`over a link and disks that fail at any step, each side counts on from the other (seed ${seed})`, async () => {
    await using world = await UnitWorld.start(seed, isShared)
    for (let round = 0; round < 4; round += 1) {
      world.setFaults(true)
      for (let step = 0; step < 60; step += 1) await world.playOne()
      world.setFaults(false)
      world.wanted = round % 2 === 0 ? 'unit' : 'parent'
      for (let step = 0; step < 12 && !(await world.isSettled()); step += 1) await world.playAll()
      assert.ok(await world.isSettled(), `${world.wanted} is wanted: ${await world.describe()}`)
      const before = world.written
      await world.playAll()
      assert.ok(world.written > before, await world.describe())
    }
  })
}
