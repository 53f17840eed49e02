import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { readGolden, readStories } from './corpus.ts'
import { startOurServer, type OurServer } from './our-scheduler.ts'
import { playOurs } from './play-ours.ts'

/**
 * The number of parallel stories, which mostly wait. Each has its own server, since most use the same node
 * names.
 */
const concurrency = 12

const idle: OurServer[] = []

after(async () => {
  for (const server of idle) await server[Symbol.asyncDispose]()
})

describe('pods go where upstream places them, with the same messages', { concurrency }, () => {
  for (const story of readStories()) {
    test(story.name, async () => {
      const server = idle.pop() ?? (await startOurServer())
      try {
        const golden = readGolden(story.name)
        assert.deepEqual(await playOurs(story, golden, server), golden)
      } finally {
        idle.push(server)
      }
    })
  }
})
