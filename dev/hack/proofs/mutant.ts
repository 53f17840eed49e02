/** One way to break a promise: the test that proves the promise must fail with it. */
export interface Mutant {
  /** The proof's name as the documents quote it. */
  readonly proof: string
  /** The file of the test, relative to the repository. */
  readonly test: string
  /** The file that runs the test, if `test` is a suite for several implementations. Default: `test`. */
  readonly runBy?: string
  /** A text in the names of the tests that run, if the proof is a part of many names. Default: all of them run. */
  readonly only?: string
  /** The test whose result counts, if the proof runs in a process of its own. Default: `proof`. */
  readonly shownAs?: string
  /** How long a run may take; a test that has no end counts as failed. Default: 90 s. */
  readonly msMax?: number
  /** The file to break, relative to the repository. */
  readonly file: string
  /** Text that occurs exactly once in that file. */
  readonly find: string
  readonly replace: string
  /** Where the broken file stands instead, relative to the repository. */
  readonly movedTo?: string
}
