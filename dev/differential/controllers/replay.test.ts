import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { formatDifference } from '../compare.ts'
import { compareCheckpoints, readGolden, readStories } from './corpus.ts'
import { explanationOf, storyExplanations } from './explained-differences.ts'
import { startOurWorld } from './our-world.ts'
import { playStory } from './play-story.ts'

const used = new Set<string>()
let running: ReturnType<typeof startOurWorld> | undefined

after(async () => {
  await (await running)?.[Symbol.asyncDispose]()
})

for (const story of readStories()) {
  test(`${story.name}: controllers act as upstream's do`, async () => {
    const golden = readGolden(story.name)
    assert.deepEqual(
      golden.map(({ name }) => name),
      story.chapters.map(({ name }) => name),
      'the recording is of this story',
    )
    // One world serves all stories: each has its own namespace and deletes what it creates.
    const played = await playStory(story, await (running ??= startOurWorld()))
    const found = compareCheckpoints(story.name, golden, played).filter((difference) => {
      const explanation = explanationOf(difference)
      if (explanation) used.add(explanation.name)
      return !explanation
    })
    const shown = found.map(({ chapter, object, ...each }) =>
      formatDifference({ exchange: `${chapter} · ${object}`, ...each }),
    )
    assert.equal(shown.join('\n'), '')
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
