import type { DefinedKind } from '@skerry/edge-apps'
import { edgeSystems, runEdgeApps } from '@skerry/edge-apps'
import { startOurWorld } from '../controllers/our-world.ts'
import type { StoryKind } from '../controllers/story-api.ts'
import type { StoryWorld } from '../controllers/story-world.ts'

const system = 'superedge'

export const storyRoot: string = import.meta.dirname

/** The kinds of SuperEdge. */
export const definedKinds: readonly DefinedKind[] = edgeSystems[system]?.kinds ?? []

/** The same kinds, as stories address them. */
export const storyKinds: readonly StoryKind[] = definedKinds.map((each) => ({
  group: each.group,
  version: each.version,
  kind: each.kind,
  resource: each.plural,
  isNamespaced: each.scope === 'Namespaced',
}))

/** Starts our API server with all controllers and those of SuperEdge's kinds, in simulated time. */
export async function startEdgeStories(): Promise<StoryWorld & AsyncDisposable> {
  const apps = { name: 'edge-apps', run: runEdgeApps.bind(undefined, [system]) }
  return { ...(await startOurWorld([apps])), kinds: storyKinds }
}
