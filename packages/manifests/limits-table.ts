/** Bounds of manifests that no caller sets, by the file that keeps them: times in milliseconds. */
export const manifestsBounds = Object.freeze({
  applyManifests: Object.freeze({
    /** How long a kind may take to be served whose definition was just made, and how often it is asked for. */
    discoverMs: 30_000,
    discoverLookMs: 500,
  }),
})
