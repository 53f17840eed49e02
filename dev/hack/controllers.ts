/**
 * Plays the stories of dev/differential/controllers with upstream's controllers and with ours. Development only.
 *   node dev/hack/controllers.ts record [names]    writes what upstream's do to dev/differential/controllers/golden
 *   node dev/hack/controllers.ts compare [names]   plays with both and prints where they differ
 *   node dev/hack/controllers.ts replay [names]    compares ours with what was recorded
 * A name is a part of a story's file name; none means all. Upstream's play in real time, some at once.
 */
import { writeFile } from 'node:fs/promises'
import { formatDifference } from '../differential/compare.ts'
import {
  goldenPath,
  readGolden,
  readStories,
  unexplained,
} from '../differential/controllers/corpus.ts'
import { formatCheckpoints } from '../differential/controllers/golden.ts'
import { startOurWorld } from '../differential/controllers/our-world.ts'
import { playStory, type Checkpoint } from '../differential/controllers/play-story.ts'
import type { Story } from '../differential/controllers/story.ts'
import { startUpstreamWorld } from './upstream/upstream-world.ts'

const atOnceMax = 6

const [command = '', ...names] = process.argv.slice(2)
const stories = readStories(names)
const commands: Readonly<Record<string, () => Promise<void>>> = { record, compare, replay }
const run = commands[command]
if (run) await run()
else {
  console.error(
    `Say one of ${Object.keys(commands).join(', ')}; the first lines of this file tell how`,
  )
  process.exitCode = 2
}

async function record(): Promise<void> {
  await playUpstream(async (story, checkpoints) => {
    await writeFile(goldenPath(story.name), formatCheckpoints(checkpoints))
    console.log(`${story.name}: recorded ${checkpoints.length} chapters`)
  })
}

async function compare(): Promise<void> {
  const played = new Map<string, readonly Checkpoint[]>()
  await playUpstream((story, checkpoints) => void played.set(story.name, checkpoints))
  await playOurs((story) => played.get(story.name))
}

async function replay(): Promise<void> {
  await playOurs((story) => readGolden(story.name))
}

async function playUpstream(
  use: (story: Story, checkpoints: readonly Checkpoint[]) => Promise<void> | void,
): Promise<void> {
  await using world = await startUpstreamWorld()
  const play = (story: Story): Promise<void> =>
    attempt(async () => use(story, await playStory(story, world)))
  const waiting = stories.filter(({ isAlone }) => !isAlone)
  const playSome = async (): Promise<void> => {
    for (let story = waiting.shift(); story; story = waiting.shift()) await play(story)
  }
  await Promise.all(Array.from({ length: atOnceMax }, playSome))
  for (const story of stories.filter(({ isAlone }) => isAlone)) await play(story)
}

async function playOurs(
  expected: (story: Story) => readonly Checkpoint[] | undefined,
): Promise<void> {
  await using world = await startOurWorld()
  for (const story of stories) {
    await attempt(async () => {
      const upstream = expected(story)
      if (upstream) report(story.name, upstream, await playStory(story, world))
    })
  }
}

/** Reports an error of one story, so that the others are played. */
async function attempt(act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
}

function report(story: string, upstream: readonly Checkpoint[], ours: readonly Checkpoint[]): void {
  const differences = unexplained(story, upstream, ours)
  console.log(`${story}: ${differences.length} differences`)
  for (const { chapter, object, ...found } of differences) {
    console.log(formatDifference({ exchange: `${chapter} · ${object}`, ...found }))
  }
  if (differences.length > 0) process.exitCode = 1
}
