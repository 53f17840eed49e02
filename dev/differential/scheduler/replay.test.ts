import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { readGolden, readStories } from './corpus.ts'
import { startOurServer, type OurServer } from './our-scheduler.ts'
import { playOurs } from './play-ours.ts'

/** Stories mostly wait. Each has a server for itself meanwhile, since most name their nodes alike. */
const concurrency = 12

const idle: OurServer[] = []

after(async () => {
  for (const server of idle) await server[Symbol.asyncDispose]()
})

describe('pods go where upstream places them, and are told the same', { concurrency }, () => {
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
