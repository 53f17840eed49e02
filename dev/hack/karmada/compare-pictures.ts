import { systemClock } from '@skerry/base'
import { differences, type FleetPicture } from './fleet-picture.ts'

/** Looks again. */
export type Look = (signal: AbortSignal) => Promise<FleetPicture>

const pollMs = 500
/** The time without a change after which a picture is the result of the step. */
const stillMs = 4_000
/** How long our picture may take to equal Karmada's. */
const equalMs = 20_000

/** Returns the picture once it no longer changes. */
export async function stillPicture(look: Look, signal: AbortSignal): Promise<FleetPicture> {
  let last = await look(signal)
  let sinceMs = performance.now()
  while (performance.now() - sinceMs < stillMs) {
    await systemClock.sleep(pollMs, signal)
    const next = await look(signal)
    if (differences(last, next).length === 0) continue
    last = next
    sinceMs = performance.now()
  }
  return last
}

/** Returns the remaining differences from the expected picture; none if it looks as expected. */
export async function untilAlike(
  look: Look,
  expected: FleetPicture,
  signal: AbortSignal,
): Promise<string[]> {
  const endMs = performance.now() + equalMs
  for (;;) {
    const found = differences(expected, await look(signal)).filter(isNews)
    if (found.length === 0 || performance.now() > endMs) return found
    await systemClock.sleep(pollMs, signal)
  }
}

/**
 * Returns whether a difference counts. Karmada leaves the annotation of an override on a Work after the
 * override is gone.
 */
function isNews(line: string): boolean {
  return !/annotations\.policy\.karmada\.io\/applied-overrides: .* found undefined$/.test(line)
}
