import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { readStories } from './corpus.ts'
import { explanationOf, storyExplanations } from './explained-differences.ts'
import { startOurWorld } from './our-world.ts'
import { replayStory } from './replay-story.ts'

const used = new Set<string>()
let running: ReturnType<typeof startOurWorld> | undefined

after(async () => {
  await (await running)?.[Symbol.asyncDispose]()
})

for (const story of readStories()) {
  test(`${story.name}: controllers act as upstream's do`, async () => {
    const world = () => (running ??= startOurWorld())
    await replayStory(story, { world, explanationOf, used })
  })
}

test('each explained difference between stories still exists', () => {
  const unused = storyExplanations.filter(({ name }) => !used.has(name))
  assert.deepEqual(unused, [])
})

test('docs/differences.md shows the explained differences between stories', () => {
  const document = readFileSync(new URL('../../../docs/differences.md', import.meta.url), 'utf8')
  const [, section = ''] = document.split('## Controllers\n')
  const [list = ''] = section.split('\n## ')
  assert.deepEqual(
    list.split('\n').filter((line) => line.startsWith('- ')),
    storyExplanations.map(({ name, reason }) => `- ${name}: ${reason}.`),
  )
})
