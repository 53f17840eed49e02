/** The hub's time. Ages are counted by it, so that a viewer with a wrong clock sees right ones. */
import { browserClock } from '../browser/browser-clock.ts'

let aheadMs = 0
let isKnown = false

/** Takes a time that the hub has just said. Answers travel, so an earlier one may be a little behind. */
export function learnHubTime(hubMs: number): void {
  const nextMs = hubMs - browserClock.nowMs()
  // Small differences are the way's, not the clock's.
  if (isKnown && Math.abs(nextMs - aheadMs) < 2_000) return
  aheadMs = nextMs
  isKnown = true
}

export function hubNowMs(): number {
  return browserClock.nowMs() + aheadMs
}

/** How far the hub's clock is ahead of the browser's; negative if it is behind. */
export function hubAheadMs(): number {
  return aheadMs
}
