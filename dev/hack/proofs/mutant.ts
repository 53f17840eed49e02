/** One way to break a promise. The test that proves the promise must fail with it. */
export interface Mutant {
  /** The proof's name as the documents quote it. */
  readonly proof: string
  /** The file of the test, relative to the repository. */
  readonly test: string
  /** The file that runs the test, if `test` is a suite for several implementations. Default: `test`. */
  readonly runBy?: string
  /** A text in the names of the tests that run, if the proof is a part of many names. Default: all of them run. */
  readonly only?: string
  /** The test whose result counts, if the proof runs in a separate process. Default: `proof`. */
  readonly shownAs?: string
  /** The maximum time of a run, in milliseconds; a test that does not end counts as failed. Default: 90 s. */
  readonly msMax?: number
  /** The file to break, relative to the repository. */
  readonly file: string
  /** The text to replace, which occurs exactly once in that file. */
  readonly find: string
  readonly replace: string
  /** The path of the broken file, if it moves, relative to the repository. */
  readonly movedTo?: string
}
