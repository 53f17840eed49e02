import type { DefinedKind } from '@skerry/edge-apps'
import { edgeSystems, runEdgeApps } from '@skerry/edge-apps'
import { startOurWorld } from '../controllers/our-world.ts'
import type { StoryKind } from '../controllers/story-api.ts'
import type { StoryWorld } from '../controllers/story-world.ts'

export const storyRoot: string = import.meta.dirname

/** Returns the system whose kinds a story uses: the first word of its name, or SuperEdge. */
export function systemOf(story: string): string {
  const [word = ''] = story.split('-')
  return word in edgeSystems ? word : 'superedge'
}

export function definedKinds(system: string): readonly DefinedKind[] {
  return edgeSystems[system]?.kinds ?? []
}

/** Returns the kinds of a system, as stories address them. */
export function storyKinds(system: string): readonly StoryKind[] {
  return definedKinds(system).map(({ resource }) => resource)
}

/** Starts our API server with all controllers and those of a system's kinds, in simulated time. */
export async function startEdgeStories(system: string): Promise<StoryWorld & AsyncDisposable> {
  const apps = { name: 'edge-apps', run: runEdgeApps.bind(undefined, [system]) }
  return { ...(await startOurWorld([apps])), kinds: storyKinds(system) }
}
