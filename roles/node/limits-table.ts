/** Bounds of roles/node that no caller sets, by the file that keeps them: times in milliseconds. */
export const nodeBounds = Object.freeze({
  nextIdentity: Object.freeze({
    /** A node that starts does not wait longer for a control plane to which it may go. */
    answerMs: 20_000,
  }),
  movedPods: Object.freeze({
    /** The pods that one message names. */
    namedPodsMax: 5,
  }),
})
