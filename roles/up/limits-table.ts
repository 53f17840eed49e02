/** Bounds of roles/up that no caller sets, by the file that keeps them. */
export const upBounds = Object.freeze({
  childRole: Object.freeze({
    /** The time for a role's orderly stop before it is killed, in milliseconds. */
    stopGraceMs: 20_000,
    /** A child that ran this long was healthy: its next death restarts the backoff. */
    healthyMs: 60_000,
    logTailChars: 16_384,
    restart: Object.freeze({ initialMs: 200, maxMs: 15_000 }),
  }),
  down: Object.freeze({
    stopMsMax: 60_000,
    lookMs: 100,
  }),
  progress: Object.freeze({
    redrawMs: 100,
  }),
  reset: Object.freeze({
    cgroupWaitMs: 100,
    cgroupTries: 50,
  }),
  status: Object.freeze({
    askMsMax: 3_000,
  }),
  up: Object.freeze({
    /** The time until a role's first `ready`, in milliseconds; more is an error. */
    readyMsMax: 60_000,
    nodeReadyMsMax: 120_000,
    readyLookMs: 200,
    /** The lifetime of the tokens by which its own site and node register, in seconds. */
    tokenSeconds: 3_600,
  }),
})
