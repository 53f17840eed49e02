/** A step of a story that is played in several worlds. */
export interface StoryStep<World> {
  readonly title: string
  readonly act: (world: World, signal: AbortSignal) => Promise<unknown>
}
