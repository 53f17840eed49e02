import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { readStories } from '../controllers/corpus.ts'
import { replayStory } from '../controllers/replay-story.ts'
import { startEdgeStories, storyRoot, systemOf } from './edge-world.ts'
import { edgeExplanations, explanationOf } from './explained-differences.ts'
import { withNumberedRevisions } from './numbered-revisions.ts'

const used = new Set<string>()
const running = new Map<string, ReturnType<typeof startEdgeStories>>()

after(async () => {
  for (const world of running.values()) await (await world)[Symbol.asyncDispose]()
})

for (const story of readStories([], storyRoot)) {
  test(`${story.name}: groups have the children and states that the original gives them`, async () => {
    const world = () => worldOf(systemOf(story.name))
    const settled = withNumberedRevisions
    await replayStory(story, { world, explanationOf, used, root: storyRoot, settled })
  })
}

function worldOf(system: string): ReturnType<typeof startEdgeStories> {
  const known = running.get(system)
  if (known) return known
  const world = startEdgeStories(system)
  running.set(system, world)
  return world
}

test('each explained difference from an original still exists', () => {
  const unused = edgeExplanations.filter(({ name }) => !used.has(name))
  assert.deepEqual(unused, [])
})

test('docs/differences.md shows the explained differences of edge applications', () => {
  const document = readFileSync(new URL('../../../docs/differences.md', import.meta.url), 'utf8')
  const [, section = ''] = document.split('## Applications in many places\n')
  const [list = ''] = section.split('\n## ')
  const lines = list.replaceAll('\n  ', ' ').split('\n')
  for (const { name, reason } of edgeExplanations) {
    assert.ok(lines.includes(`- ${name}: ${reason}.`), name)
  }
})
