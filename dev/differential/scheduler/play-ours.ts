import { startExtenderServer } from './extender-server.ts'
import type { OurServer } from './our-scheduler.ts'
import { runStory, type Sight } from './run-story.ts'
import type { Story } from './story.ts'

/** The time that shows whether a pod moves that should not. */
const quietMs = 150

/** Plays the story with our scheduler, until the expected result is seen or the time is over. */
export async function playOurs(
  story: Story,
  expected: readonly Sight[],
  ours: OurServer,
): Promise<Sight[]> {
  await using extender = await startExtenderServer(story, ours)
  await using _scheduler = await ours.schedule(story, extender.url)
  return await runStory(story, ours, { quietMs, expected, revision: () => ours.revision() })
}
