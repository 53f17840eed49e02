import { stillPicture, untilAlike } from './compare-pictures.ts'
import type { FleetPicture } from './fleet-picture.ts'
import type { StoryStep } from './story-step.ts'

/** Builds the world, has the story played in it, and takes it down. */
export type Stage<World> = (
  signal: AbortSignal,
  play: (world: World) => Promise<void>,
) => Promise<void>

export interface AlikePlay<World> {
  readonly story: readonly StoryStep<World>[]
  readonly look: (world: World, signal: AbortSignal) => Promise<FleetPicture>
  readonly karmada: Stage<World>
  /** The stages by their printed names. */
  readonly hubs: Readonly<Record<string, Stage<World>>>
}

/** Plays one story at the real Karmada, then at each hub. Throws unless they look alike after every step. */
export async function playAlike<World>(
  { story, look, karmada, hubs }: AlikePlay<World>,
  signal: AbortSignal,
): Promise<void> {
  const pictures: FleetPicture[] = []
  await karmada(signal, async (world) => {
    for (const { title, act } of story) {
      await act(world, signal)
      pictures.push(await stillPicture((scope) => look(world, scope), signal))
      console.log(`Karmada: ${title}`)
    }
  })
  let count = 0
  for (const [name, hub] of Object.entries(hubs)) {
    await hub(signal, async (world) => {
      for (const [at, { title, act }] of story.entries()) {
        await act(world, signal)
        const found = await untilAlike((scope) => look(world, scope), pictures[at] ?? {}, signal)
        console.log(`${name}: ${title}${found.length === 0 ? '' : `: ${found.length} differences`}`)
        for (const line of found) console.log(`  ${line}`)
        count += found.length
      }
    })
  }
  if (count > 0) throw new Error(`The hub differs from Karmada in ${count} places`)
}
