import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readGolden, readWorlds } from './corpus.ts'
import { differenceOf } from './difference.ts'
import { playOurs } from './play-ours.ts'

describe('objects go to the clusters that Karmada sends them to, with the same messages', () => {
  for (const world of readWorlds()) {
    test(world.name, () => {
      const golden = readGolden(world.name)
      const ours = playOurs(world)
      assert.deepEqual([...ours.keys()].toSorted(), Object.keys(golden).toSorted())
      for (const [name, outcome] of ours) {
        const difference = differenceOf(golden[name], outcome, { world, binding: name })
        assert.equal(difference, undefined, name)
      }
    })
  }
})
