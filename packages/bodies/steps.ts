/**
 * Work on one object, in steps that each take a part of the time. A server that runs it for one
 * client serves others between the steps; other callers use runSteps to run it to its end.
 */
export type Steps<T> = Generator<undefined, T>

export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
