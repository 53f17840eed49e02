/** One way to break a promise: the test that proves the promise must fail with it. */
export interface Mutant {
  /** The proof's name as the documents quote it. */
  readonly proof: string
  /** The file of the test, relative to the repository. */
  readonly test: string
  /** The file to break, relative to the repository. */
  readonly file: string
  /** Text that occurs exactly once in that file. */
  readonly find: string
  readonly replace: string
}
