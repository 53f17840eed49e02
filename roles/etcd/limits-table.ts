/** The bounds of the role; times are in milliseconds. */
export const etcdRoleBounds = Object.freeze({
  certificateUpkeep: Object.freeze({
    /** The interval at which changed files of certificates are looked for. */
    lookMs: 60_000,
  }),
})
