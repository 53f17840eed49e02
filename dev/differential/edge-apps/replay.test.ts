import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { readStories } from '../controllers/corpus.ts'
import { replayStory } from '../controllers/replay-story.ts'
import { startEdgeStories, storyRoot } from './edge-world.ts'
import { edgeExplanations, explanationOf } from './explained-differences.ts'

const used = new Set<string>()
let running: ReturnType<typeof startEdgeStories> | undefined

after(async () => {
  await (await running)?.[Symbol.asyncDispose]()
})

for (const story of readStories([], storyRoot)) {
  test(`${story.name}: grids have the children and states that SuperEdge gives them`, async () => {
    const world = () => (running ??= startEdgeStories())
    await replayStory(story, { world, explanationOf, used, root: storyRoot })
  })
}

test('each explained difference from SuperEdge still exists', () => {
  const unused = edgeExplanations.filter(({ name }) => !used.has(name))
  assert.deepEqual(unused, [])
})

test('docs/differences.md shows the explained differences from SuperEdge', () => {
  const document = readFileSync(new URL('../../../docs/differences.md', import.meta.url), 'utf8')
  const [, section = ''] = document.split('## Applications in many places\n')
  const [list = ''] = section.split('\n## ')
  const lines = list.replaceAll('\n  ', ' ').split('\n')
  for (const { name, reason } of edgeExplanations) {
    assert.ok(lines.includes(`- ${name}: ${reason}.`), name)
  }
})
