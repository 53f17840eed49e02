/** Bounds of CEL that no caller sets, by the file that keeps them. */
export const celBounds = Object.freeze({
  environment: Object.freeze({
    /** The cost limit of one evaluation if its caller sets none. */
    costMax: 1_000_000,
  }),
  lists: Object.freeze({
    rangeMax: 1_000_000,
  }),
  texts: Object.freeze({
    /** The number of characters in a function's result. */
    resultLengthMax: 16 * 1024 * 1024,
    patternsCachedMax: 500,
  }),
  parser: Object.freeze({
    /** The number of characters in one expression. */
    textLengthMax: 100_000,
    depthMax: 250,
  }),
  source: Object.freeze({
    issuesMax: 100,
    snippetMax: 16_384,
  }),
})
