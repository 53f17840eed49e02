/** The bounds of what the program does on a machine, and for nodes of the site there: times in milliseconds. */
export const machineBounds = Object.freeze({
  applyManifests: Object.freeze({
    objectsMax: 1_000,
    /** How long a kind may take to be served whose definition was just made, and how often it is asked for. */
    discoverMs: 30_000,
    discoverLookMs: 500,
  }),
  listNodes: Object.freeze({
    askMs: 10_000,
  }),
  drain: Object.freeze({
    /** How often the pods of a node that is drained are looked at. */
    lookMs: 1_000,
    /** If budgets alone keep pods for so long, the attempt ends: its message tells which ones. */
    blockedMsMax: 5_000,
    timeoutDefault: '2m',
    /** The pods that a message names. */
    namedPodsMax: 5,
  }),
  /** One request for a node. */
  requestMsMax: 10_000,
})
