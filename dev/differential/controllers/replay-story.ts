import assert from 'node:assert/strict'
import { formatDifference } from '../compare.ts'
import { compareCheckpoints, readGolden, type StoryDifference } from './corpus.ts'
import type { StoryExplanation } from './explained-differences.ts'
import { playStory, type Checkpoint } from './play-story.ts'
import type { StoryWorld } from './story-world.ts'
import type { Story } from './story.ts'

interface Replay {
  /** Starts the world, or returns the one that runs: each story has its own namespace and deletes what it creates. */
  readonly world: () => Promise<StoryWorld>
  readonly explanationOf: (difference: StoryDifference) => StoryExplanation | undefined
  /** Gets the names of the explanations that were needed. */
  readonly used: Set<string>
  /** The directory of the recordings. If omitted, those of upstream's controllers. */
  readonly root?: string
  /** Makes names comparable that differ in each play. If omitted, there are none. */
  readonly settled?: (checkpoints: readonly Checkpoint[]) => readonly Checkpoint[]
}

/** Plays a story in our world, and fails with every difference from its recording that nothing explains. */
export async function replayStory(
  story: Story,
  { world, explanationOf, used, root, settled = (checkpoints) => checkpoints }: Replay,
): Promise<void> {
  const golden = readGolden(story.name, root)
  assert.deepEqual(
    golden.map(({ name }) => name),
    story.chapters.map(({ name }) => name),
    'the recording is of this story',
  )
  const played = await playStory(story, await world())
  const found = compareCheckpoints(story.name, settled(golden), settled(played)).filter(
    (difference) => {
      const explanation = explanationOf(difference)
      if (explanation) used.add(explanation.name)
      return !explanation
    },
  )
  const shown = found.map(({ chapter, object, ...each }) =>
    formatDifference({ exchange: `${chapter} · ${object}`, ...each }),
  )
  assert.equal(shown.join('\n'), '')
}
