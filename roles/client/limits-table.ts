/** The timeout of one request to a hub or a site, in milliseconds. */
export const askMs = 30_000

/** A line for a bare machine: at the first one the server packs its program, which takes a slow machine a minute. */
export const lineMs = 150_000

/** The times that a change of an object is tried if others change it meanwhile. */
export const changeAttemptsMax = 10

/** Bounds of roles/client that no caller sets, by the file that keeps them. */
export const clientBounds = Object.freeze({
  credential: Object.freeze({
    /** A token that expires sooner is not used any more: it must live as long as a request. */
    leftMsMin: 60_000,
  }),
  drill: Object.freeze({
    /** The time in which containerd says which images it has, in milliseconds. */
    imagesMs: 10_000,
  }),
  drillCut: Object.freeze({
    /** The time for one answer of DNS, containerd, or a port, in milliseconds. */
    lookMs: 1_500,
    /** The interval of looks, in milliseconds. */
    betweenMs: 1_000,
    /** The time after the cut in which containers must not restart, in milliseconds. */
    afterMs: 10_000,
    /** The time after the cut in which the node must renew its lease, in milliseconds. */
    returnMs: 60_000,
    askMs: 5_000,
  }),
  followEdgeCluster: Object.freeze({
    /** The interval at which durations are drawn again, in milliseconds. */
    drawMs: 1_000,
    /** A failure that lasts this long is the end: other machines may begin their next step, in milliseconds. */
    settleMs: 1_500,
  }),
  followStates: Object.freeze({
    /** The delay that collects simultaneous changes into one request, as at a restart of the hub, in milliseconds. */
    gatherMs: 250,
    /** The interval, in milliseconds, that finds changes without a change of the object, such as a second agent. */
    lookMs: 10_000,
  }),
  forward: Object.freeze({
    /** The connections open at once to one local port; more are refused. */
    connectionsMax: 500,
  }),
  kernelCommands: Object.freeze({
    /** The output of a program that is read; the rest is dropped. */
    outputBytesMax: 65_536,
  }),
  linkPlan: Object.freeze({
    /** A simulated link drops what would wait longer. */
    queueMs: 200,
    /** The largest packets that interfaces of one machine exchange fit into it. */
    burstBytesMin: 65_536,
  }),
  logInAt: Object.freeze({
    /** The time that a person may take, in milliseconds. */
    personMsMax: 300_000,
  }),
  moveStore: Object.freeze({
    /** The number of changes between two lines of progress. */
    progressRecords: 50_000,
  }),
  rotateEncryption: Object.freeze({
    pollMs: 1_000,
    /** The time in which all masters must use a new list of keys, in milliseconds. */
    usedMsMax: 60_000,
    answerMs: 5_000,
    rewriteAttemptsMax: 5,
  }),
  simulateLink: Object.freeze({
    /** A simulation without cuts has nothing to do meanwhile, in milliseconds. */
    idleMs: 3_600_000,
  }),
  serviceConnection: Object.freeze({
    /** The time to open the way through hub, tunnel and service, in milliseconds. */
    openMs: 60_000,
    refusalBytesMax: 65_536,
  }),
})
