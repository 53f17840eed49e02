/** The limits of one call of a script. */
export const luaLimits = Object.freeze({
  /** The number of statements, calls and library operations: at most some tens of milliseconds. */
  stepsMax: 1_000_000,
  /** The size of all created texts and tables, including discarded ones. */
  bytesMax: 32 * 1024 * 1024,
  /** Karmada's limit. It stops work that costs more than its steps; a busy machine uses up some of it. */
  timeMaxMs: 1_000,
  callDepthMax: 200,
  scriptBytesMax: 256 * 1024,
  /** The nesting of tables in a script's arguments and results. */
  valueDepthMax: 100,
})

/** Bounds of Lua that no caller sets, by the file that keeps them. */
export const luaBounds = Object.freeze({
  luaBaseLibrary: Object.freeze({
    /** No real list is longer than this. */
    unpackMax: 10_000,
    /** Longer texts are not numbers in any base: the largest number in base 2 has 1,024 digits. */
    digitsMax: 2_000,
  }),
  luaExpressions: Object.freeze({
    /** Each operator is a level of the tree, and a few calls in evaluation. */
    chainMax: 500,
  }),
  luaHash: Object.freeze({
    /** With fewer places, compacting is not worthwhile. */
    placesMin: 16,
  }),
  luaPattern: Object.freeze({
    capturesMax: 32,
    recursionMax: 200,
  }),
  luaReader: Object.freeze({
    /** Real scripts do not nest deeper. Each level takes a few calls of the parser itself. */
    nestingMax: 150,
  }),
  luaRun: Object.freeze({
    /** The clock is read after this many steps, and after this many calls. */
    stepsPerLook: 2_000,
    callsPerLook: 16,
  }),
  luaStringLibrary: Object.freeze({
    byteResultsMax: 10_000,
  }),
  luaValue: Object.freeze({
    /** Longer texts are not numbers, because parsing them repeatedly would take time. */
    numberCharsMax: 400,
  }),
})

/** The approximate memory of an element. */
export const elementBytes = 40
