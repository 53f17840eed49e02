/** The bounds of provisioning: times in milliseconds, sizes in bytes. */
export const provisioningBounds = Object.freeze({
  shell: Object.freeze({
    /** From the first packet to a login. */
    connectMsMax: 20_000,
    /** The forwarded connections of one login on a jump host; beyond them the hub logs in there once more. */
    forwardsMax: 100,
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
    /** A file is sent in pieces of this length, some at a time: without them, a way of 100 ms carries 300 KB a second. */
    pieceBytes: 32 * 1024,
    piecesAtOnce: 32,
    /** The digest of a large file on a slow disk. */
    digestMsMax: 300_000,
  }),
  engine: Object.freeze({
    attemptsDefault: 10,
    /** The time for which a master that has answered counts as serving. */
    masterMs: 10_000,
    /** The time that a machine may take to write what a step has changed to its disk. */
    syncMsMax: 300_000,
    retryMsMin: 2_000,
    retryMsMax: 300_000,
    /** The longest wait for a next attempt or look. A later time is that of a clock which has been set back since. */
    nextMsMax: 900_000,
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
    /** The time after which a cluster is looked at again that waits because others of its namespace are worked on. */
    turnMs: 5_000,
    /** The status shows this much of a step's output. */
    outputLines: 10,
    outputCharsMax: 2_000,
    messageCharsMax: 1_000,
    /** The log of a step keeps the end of its output, up to this. */
    logBytesMax: 256 * 1024,
    /** Secrets that are searched for: a key of RSA has fifty lines. With more of them, nothing of a text is shown. */
    secretsMax: 20_000,
    /** The characters of a text times the secrets: with many of these, less of the text is shown. */
    searchedCharsMax: 256 * 1024 * 1024,
    /** Shorter texts are not taken for secrets: they would blacken half of every log. */
    secretCharsMin: 4,
    /** The same for the value of one line of a file: many are numbers and plain words. */
    valueCharsMin: 8,
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
    /** One attempt to become a member, which may have to fetch its program first; the next one goes on waiting. */
    joinMsMax: 180_000,
    /** The making of a token: on a slow, busy machine the program takes over a minute for it. */
    tokenMsMax: 180_000,
    /** Files of an offline package that are copied in one go: so many, or so many bytes and one file. */
    batchFilesMax: 100,
    batchBytes: 32 * 1024 * 1024,
    /** Free space on a machine in addition to a package, for the unpacked files. */
    spareBytes: 1024 * 1024 * 1024,
    cleanMsMax: 180_000,
    /** The manifests of all add-ons together, their objects, and the time to apply them. */
    addOnBytesMax: 4 * 1024 * 1024,
    addOnObjectsMax: 1_000,
    applyMsMax: 5 * 60_000,
    /** The change of one node's labels and taints. */
    labelMsMax: 60_000,
  }),
  imports: Object.freeze({
    /** How often a cluster is looked at that somebody has yet to connect. */
    lookMs: 10_000,
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
    memoryMegabytesMin: { Master: 700, Node: 400, Witness: 200 },
    /** The facts of a machine, and those that are listed of one name. */
    factsBytesMax: 768 * 1024,
    listedMax: 10,
    diskMegabytesMin: 2_000,
    processorsMin: 1,
    clockSkewMsMax: 60_000,
    /** The clocks of two masters, and one look from one to another. */
    mastersSkewMsMax: 10_000,
    reachMsMax: 60_000,
    /** The look-ups of names and the listing of rules on a slow machine. */
    factsMsMax: 60_000,
    /** The question who has a virtual IP, and the characters of its answer. */
    holderMsMax: 30_000,
    holderCharsMax: 200,
    /** The rules of one chain and the chains that one packet passes when rules are judged. */
    rulesMax: 10_000,
    chainDepthMax: 32,
    setDepthMax: 8,
  }),
})

/** The bounds of the changes that EdgeJobs make. */
export const edgeJobBounds = Object.freeze({
  /** The clusters that one job may change: each has an entry in its status. */
  clustersMax: 1_000,
  clustersAtOnceDefault: 5,
  clustersAtOnceMax: 100,
  machinesAtOnceDefault: 1,
  machinesAtOnceMax: 100,
  attemptsDefault: 3,
  timeoutSecondsDefault: 300,
  timeoutSecondsMax: 3_600,
  imagesMax: 100,
  imageCharsMax: 512,
  optionsMax: 50,
  /** The entries of one annotation, and the machines that a job has confirmations for. */
  namesMax: 1_000,
  /** The message of a job that is refused names so many of its machines. */
  namesShown: 10,
  /** The status of a job shows this many failed machines, and this much of their messages. */
  failuresMax: 50,
  messageCharsMax: 300,
  summaryCharsMax: 120,
  /** The clusters that all jobs work on at the same time, and those in one namespace: no tenant holds up the others. */
  workers: 40,
  clustersOfNamespaceAtOnce: 25,
  /** How long changes of clusters are gathered before the status of their job is written. */
  summaryDelayMs: 200,
  /** When a cluster is looked at again that waits for its turn. */
  turnMs: 5_000,
  /** The same for each cluster that is before it. */
  positionMs: 250,
  /** A machine that is away is looked for again after a part of the time for which it has been away. */
  awayMsMin: 5_000,
  awayMsMax: 120_000,
  awayPart: 4,
  /** The same for a person who has not confirmed yet. */
  unconfirmedMsMin: 2_000,
  unconfirmedMsMax: 60_000,
  unconfirmedPart: 10,
  /** A machine that its EdgeCluster has not finished is looked at again. */
  unmadeMs: 30_000,
  pullMsMax: 30 * 60_000,
  backupMsMax: 10 * 60_000,
  /** A backup that is older is made again before the program is changed. */
  backupSecondsMax: 600,
  backupsKept: 3,
  /** Free space for the program, and for the copy of a store in addition to the store. */
  diskMegabytesMin: 600,
  /** The same for a job that pulls images, and the memory that a second program needs while the first one runs. */
  imagesMegabytesMin: 1_000,
  memoryMegabytesMin: 100,
  storeMegabytesMin: 100,
  /** The roles must have run for this long without a restart. */
  steadyMs: 3_000,
  /** A machine's own answer to a small question. */
  answerCharsMax: 64 * 1024,
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
  /** The interval of etcd's heartbeats, and the longest round trip between masters that they may have. */
  heartbeatMsMin: 10,
  heartbeatMsMax: 1_000,
  heartbeatMsDefault: 100,
  roundTripMsMax: 300,
  mastersMax: 3,
  /** The labels and taints that are remembered of one node: of the last change that ended, and of some that did not. */
  settingsMax: 4,
  /** Further names of the API: the certificate of each master has all of them. */
  apiNamesMax: 100,
  /** Above, a kubelet is not tested; below, a node has no room for the system's own pods. */
  podsPerNodeMin: 8,
  podsPerNodeMax: 500,
  /** One text; paths on a machine are the longest. */
  textCharsMax: 4_096,
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
