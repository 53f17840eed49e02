/** The bounds of what the program does on a machine: times in milliseconds. */
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
})
