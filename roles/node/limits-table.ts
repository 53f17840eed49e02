/** The limits of the node's role that callers cannot set, by the file that keeps them. */
export const nodeBounds = Object.freeze({
  localApi: Object.freeze({
    /** The interval at which the address of the API is looked for before it is served. */
    addressLookMs: 200,
  }),
  balancing: Object.freeze({
    /** The interval at which a node that announces addresses renews its lease. The site waits for 1,400 ms. */
    beatMs: 500,
  }),
  neighbours: Object.freeze({
    /** Without a renewal of its lease for this long, the control plane of a node is away. One renewal is missing. */
    awayMs: 15_000,
    /** Changes of the group within this time are written once. */
    saveMs: 2_000,
    /** More than a group of 5,000 nodes takes. */
    fileBytesMax: 2 * 1024 * 1024,
  }),
  machineTime: Object.freeze({
    /** The time in which the system's program sets the clock. */
    setMs: 10_000,
  }),
  nextIdentity: Object.freeze({
    /** A node that starts does not wait longer for a control plane to which it may go. */
    answerMs: 20_000,
  }),
  movedPods: Object.freeze({
    /** The pods that one message names. */
    namedPodsMax: 5,
  }),
})
