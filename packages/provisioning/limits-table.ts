/** The bounds of provisioning: times in milliseconds, sizes in bytes. */
export const provisioningBounds = Object.freeze({
  shell: Object.freeze({
    /** From the first packet to a login. */
    connectMsMax: 20_000,
    /** Without an answer to this many questions, one each interval, the machine counts as gone. */
    keepAliveMs: 5_000,
    keepAlivesMax: 3,
    /** A command that names no time of its own. */
    commandMsMax: 60_000,
    /** How much later a machine itself ends a command of which nothing is heard any more. */
    endSeconds: 5,
    /** The commands of one login that run at the same time; others wait. */
    commandsAtOnce: 4,
    /** A command that prints more is ended. */
    outputBytesMax: 1024 * 1024,
    /** The arguments of one command together. */
    argumentBytesMax: 64 * 1024,
    /** The digest of a large file on a slow disk. */
    digestMsMax: 300_000,
  }),
  engine: Object.freeze({
    attemptsDefault: 10,
    retryMsMin: 2_000,
    retryMsMax: 300_000,
    /** The machines of one cluster on which steps run at the same time: the default, and the most. */
    machinesAtOnce: 10,
    machinesAtOnceMax: 50,
    /** The attempts of a step of a mere check, unless the object names another number. */
    checkAttempts: 2,
    /** The findings of a step that its status lists, each at most so long. */
    findingsMax: 20,
    findingCharsMax: 300,
    /** The clusters that are worked on at the same time, and those in one namespace: no tenant holds up the others. */
    clustersAtOnce: 20,
    clustersOfNamespaceAtOnce: 5,
    /** When a cluster is looked at again whose namespace has enough of them. */
    turnMs: 5_000,
    /** The status shows this much of a step's output. */
    outputLines: 10,
    outputCharsMax: 2_000,
    messageCharsMax: 1_000,
    /** The log of a step keeps the end of its output, up to this. */
    logBytesMax: 256 * 1024,
    /** Secrets that are searched for, in this much of a text; with more of them, nothing of the text is shown. */
    secretsMax: 500,
    /** Shorter texts are not taken for secrets: they would blacken half of every log. */
    secretCharsMin: 4,
    redactedCharsMax: 512 * 1024,
    /** The status as JSON. Outputs, messages and times of steps are left out as far as is needed for it. */
    statusBytesMax: 1_000_000,
    shortMessageCharsMax: 100,
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
    /** The manifests of all add-ons together, their objects, and the time to apply them. */
    addOnBytesMax: 4 * 1024 * 1024,
    addOnObjectsMax: 1_000,
    applyMsMax: 5 * 60_000,
  }),
  departure: Object.freeze({
    /** One attempt to move the pods of a node; the next one continues. */
    drainMsMax: 120_000,
    /** How much longer the hub waits for the command that is bounded by it. */
    drainMarginMs: 30_000,
    deleteNodeMsMax: 60_000,
    stopMsMax: 60_000,
  }),
  preflight: Object.freeze({
    memoryMegabytesMin: { Master: 700, Node: 400 },
    /** The facts of a machine, and those that are listed of one name. */
    factsBytesMax: 768 * 1024,
    listedMax: 10,
    diskMegabytesMin: 2_000,
    processorsMin: 1,
    clockSkewMsMax: 60_000,
    /** The look-ups of names and the listing of rules on a slow machine. */
    factsMsMax: 60_000,
    /** The rules of one chain and the chains that one packet passes when rules are judged. */
    rulesMax: 10_000,
    chainDepthMax: 32,
  }),
})

/** The bounds of an EdgeCluster. */
export const edgeClusterBounds = Object.freeze({
  /** Names become parts of others, as those of Clusters do. */
  nameCharsMax: 48,
  attemptsMax: 1_000,
  /** The machines of one cluster, and those that one text may stand for. */
  machinesMax: 1_000,
  /** All addresses of a cluster together: each stands in the status once for each step. */
  addressCharsMax: 32_000,
  /** The spec as JSON. With the status it must stay below etcd's limit of 1.5 MB for an object. */
  specBytesMax: 128 * 1024,
  /** Above, a kubelet is not tested; below, a node has no room for the system's own pods. */
  podsPerNodeMin: 8,
  podsPerNodeMax: 500,
  registriesMax: 50,
  endpointsMax: 10,
  noProxyMax: 200,
  addOnsMax: 20,
})

/** The network of a cluster that names none, as of the roles. */
export const edgeNetworkDefaults = Object.freeze({
  podCIDR: '10.42.0.0/16',
  serviceCIDR: '10.43.0.0/16',
  dnsDomain: 'cluster.local',
  podsPerNode: 110,
})
