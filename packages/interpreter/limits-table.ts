/** Limits for the scripts of one customization and one kind of object, in the process that runs them. */
export const customizationLimits = Object.freeze({
  /**
   * The largest account, in steps of `LuaRun.used`: ten thousand objects of some thousand steps each, about a
   * second.
   */
  stepsMax: 20_000_000,
  /** The steps that come back each second: about a twentieth of one core. */
  stepsPerSecond: 1_000_000,
  /** The suspension after a call that exceeded a limit, in milliseconds; it doubles with each repetition. */
  restMs: 10_000,
  restMaxMs: 600_000,
  /** The customizations that are remembered; the least recently used is dropped. */
  keptMax: 1_000,
})

/** Bounds of interpreters that no caller sets, by the file that keeps them. */
export const interpreterBounds = Object.freeze({
  /** Bounds of calls to interpreters' webhooks. */
  callInterpreterWebhook: Object.freeze({
    /** An answer is at most a status, a patch or a list of objects. */
    answerBytesMax: 4 * 1024 * 1024,
    /** A webhook that names none. */
    timeoutMsDefault: 10_000,
    timeoutMsMax: 30_000,
    /** The authorities whose connections are kept, at most. */
    agentsMax: 50,
    idleSocketsMax: 4,
  }),
  interpretedValues: Object.freeze({
    replicasMax: 2 ** 31 - 1,
    listMax: 1_000,
  }),
  luaInterpreter: Object.freeze({
    /** The parsed scripts, or their syntax errors, at most; the least recently used are dropped. */
    scriptsKept: 200,
  }),
  unknownHealth: Object.freeze({
    /** The reported failures; beyond this number, each is reported again. */
    toldMax: 100,
  }),
  createInterpreter: Object.freeze({
    retry: Object.freeze({ initialMs: 500, maxMs: 30_000, jitter: 0.5 }),
  }),
})
