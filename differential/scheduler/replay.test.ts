import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readGolden, readStories } from './corpus.ts'
import { playOurs } from './play-ours.ts'

/** Stories mostly wait. */
const concurrency = 8

describe('pods go where upstream places them, and are told the same', { concurrency }, () => {
  for (const story of readStories()) {
    test(story.name, async () => {
      const golden = readGolden(story.name)
      assert.deepEqual(await playOurs(story, golden), golden)
    })
  }
})
