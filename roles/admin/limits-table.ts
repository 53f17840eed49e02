/** Bounds of roles/admin that no caller sets, by the file that keeps them. */
export const adminBounds = Object.freeze({
  reachControlPlane: Object.freeze({
    /** The delay after a connection that was closed before it opened. */
    retry: Object.freeze({ initialMs: 250, maxMs: 2_000, jitter: 0.5 }),
  }),
})
