import type { Subject } from '../subject.ts'
import type { StoryKind } from './story-api.ts'

/** A cluster that stories are played in: an API server and its controllers, ours or upstream's. */
export interface StoryWorld {
  readonly subject: Subject
  /** Custom resources that its stories use. */
  readonly kinds?: readonly StoryKind[]
  /** Milliseconds since the Unix epoch, as the controllers see them. */
  now(): number
  /** Lets simulated or real time pass. */
  pass(ms: number): Promise<void>
  /** Starts to observe changes of these lists. */
  observe(paths: readonly string[]): Promise<Stillness>
}

export interface Stillness extends AsyncDisposable {
  /** Resolves when nothing has changed for so long; Error when that does not happen within a minute. */
  settle(quietMs: number): Promise<void>
}

export const settleMsMax = 60_000
