/** The bounds of provisioning: times in milliseconds, sizes in bytes. */
export const provisioningBounds = Object.freeze({
  kind: Object.freeze({
    /** The machines of one cluster, and those that one text may stand for. */
    machinesMax: 1_000,
    /** All addresses of a cluster together: each stands in the status once for each step. */
    addressCharsMax: 32_000,
    /** The spec as JSON. With the status it must stay below etcd's limit of 1.5 MB for an object. */
    specBytesMax: 128 * 1024,
  }),
  shell: Object.freeze({
    /** From the first packet to a login. */
    connectMsMax: 20_000,
    /** Without an answer to this many questions, one each interval, the machine counts as gone. */
    keepAliveMs: 5_000,
    keepAlivesMax: 3,
    /** A command that names no time of its own. */
    commandMsMax: 60_000,
    /** A command that prints more is ended. */
    outputBytesMax: 4 * 1024 * 1024,
    /** The arguments of one command together. */
    argumentBytesMax: 64 * 1024,
    /** A file that is read from a machine. */
    readBytesMax: 1024 * 1024,
  }),
  engine: Object.freeze({
    attemptsDefault: 10,
    retryMsMin: 2_000,
    retryMsMax: 300_000,
    /** The machines of one cluster on which steps run at the same time. */
    machinesAtOnce: 10,
    /** The clusters that are worked on at the same time. */
    clustersAtOnce: 5,
    /** The status shows this much of a step's output. */
    outputLines: 10,
    outputCharsMax: 2_000,
    messageCharsMax: 1_000,
    /** The log of a step keeps the end of its output, up to this. */
    logBytesMax: 256 * 1024,
  }),
  steps: Object.freeze({
    prepareMsMax: 15 * 60_000,
    copyMsMax: 30 * 60_000,
    hookMsMax: 15 * 60_000,
    startMsMax: 60_000,
    /** How often a state that takes its time is looked at. */
    lookMs: 500,
    readyMsMax: 120_000,
    cleanMsMax: 180_000,
  }),
  preflight: Object.freeze({
    memoryMegabytesMin: { Master: 700, Node: 400 },
    diskMegabytesMin: 2_000,
    processorsMin: 1,
    clockSkewMsMax: 60_000,
  }),
})
