/** The bounds of the role; times are in milliseconds. */
export const etcdRoleBounds = Object.freeze({
  certificateUpkeep: Object.freeze({
    /** The interval at which changed files of certificates are looked for. */
    lookMs: 60_000,
  }),
  listening: Object.freeze({
    /** The kernel's bound of a socket's path; see unix(7). */
    socketPathBytesMax: 107,
  }),
})
