/**
 * Bounds of the kubelet that no caller sets, by the file that keeps them: `superviseContainerd` is supervise-containerd.ts.
 */
export const kubeletBounds = Object.freeze({
  superviseContainerd: Object.freeze({
    /** The limit of a socket path: sun_path holds 108 bytes with its final zero. */
    socketPathBytesMax: 107,
    endedLookMs: 50,
    startedLookMs: 20,
    answerMs: 2_000,
  }),
  pauseProgram: Object.freeze({
    elfHeaderBytes: 64,
    programHeaderBytes: 56,
  }),
  readLog: Object.freeze({
    chunkBytes: 64 * 1024,
    /** The interval at which an idle follower looks for more, in milliseconds. */
    followMs: 100,
    /** The longest line: the runtime cuts at 16 KiB, so a longer one is in a foreign file. */
    lineBytesMax: 1024 * 1024,
  }),
  podBridge: Object.freeze({
    /** The interval at which the node checks the bridge, in milliseconds: pods are cut off for at most this long. */
    checkMs: 5_000,
    /** The interval while the bridge could not be repaired, because other programs may be changing it. */
    retryMs: 1_000,
    /** The failures in a row that are tolerated as temporary. */
    failuresMax: 3,
  }),
  podNetworkFiles: Object.freeze({
    /** The interval at which the files are compared with the wanted ones, because other programs may remove them. */
    checkMs: 5_000,
  }),
  lifecycleHook: Object.freeze({
    httpHookTimeoutMs: 30_000,
  }),
  podSet: Object.freeze({
    orphanRetryMs: 10_000,
  }),
  stopAllPods: Object.freeze({
    /** The longest grace period: the machine is about to shut down. */
    graceSecondsMax: 30,
  }),
  httpGet: Object.freeze({
    bodyBytesMax: 10 * 1024,
    redirectsMax: 10,
  }),
  probeOnce: Object.freeze({
    outputCharactersMax: 1024,
  }),
  prober: Object.freeze({
    /** The delay between the startup probe and the others, in milliseconds. */
    startPollMs: 250,
  }),
  runKubelet: Object.freeze({
    /** The time that pods may take to end, if the config requires that they end with the agent, in milliseconds. */
    stopPodsMs: 60_000,
  }),
  channelSession: Object.freeze({
    /** The bytes that may wait for a slow client before the runtime is no longer read. */
    bufferedBytesMax: 1024 * 1024,
    closeGraceMs: 10_000,
  }),
  spdyFrames: Object.freeze({
    /** The runtime sends pieces of 32 KiB. */
    frameBytesMax: 4 * 1024 * 1024,
  }),
  streamSession: Object.freeze({
    connectMs: 10_000,
    headBytesMax: 16 * 1024,
    /** Clients send pieces of 32 KiB. */
    messageBytesMax: 4 * 1024 * 1024,
  }),
  kubeletServer: Object.freeze({
    /** Neighbours ask again sooner than this, and then need no new connection. */
    idleMs: 15_000,
  }),
  tokenSource: Object.freeze({
    /** The delay before another attempt if an old token was used, in milliseconds. */
    retryMs: 60_000,
    requestTimeoutMs: 5_000,
  }),
  nodeFacts: Object.freeze({
    /** Below this much free memory pods are evicted, so it is not given to them. */
    evictionMemoryBytes: 100 * 1024 * 1024,
  }),
  nodeStatus: Object.freeze({
    /** Upstream's limits: further images are not listed, or a node object would grow without bound. */
    imagesMax: 50,
    imageNamesMax: 5,
  }),
  containerGarbage: Object.freeze({
    /** The dead containers kept per name in addition to the newest: `logs --previous` reads that one. */
    deadContainersKept: 1,
  }),
  hostsFile: Object.freeze({
    hostnameCharactersMax: 63,
  }),
  killContainer: Object.freeze({
    /** The least time for a process to receive its signal, however short the grace period, in seconds. */
    stopSecondsMin: 2,
  }),
  nodeAgent: Object.freeze({
    retry: Object.freeze({ initialMs: 200, maxMs: 7_000 }),
  }),
  statusReporter: Object.freeze({
    retry: Object.freeze({ initialMs: 200, maxMs: 10_000 }),
  }),
  podWorker: Object.freeze({
    retry: Object.freeze({ initialMs: 500, maxMs: 60_000 }),
  }),
  grpcChannel: Object.freeze({
    /** The longest message of the runtime: lists of containers are long. */
    runtimeMessageBytesMax: 16 * 1024 * 1024,
  }),
  devices: Object.freeze({
    registrationBytesMax: 64 * 1024,
    /** gRPC's byte that says whether a message is compressed, and its length. */
    prefixBytes: 5,
    /** The programs that may be connected to the socket of registrations at once. */
    sessionsMax: 100,
    messageBytesMax: 4 * 1024 * 1024,
    /** The extended resources of which a node has devices, and the devices of one. */
    resourcesMax: 100,
    devicesMax: 10_000,
    idCharactersMax: 1_024,
  }),
  csi: Object.freeze({
    /** The longest message of a plugin; gRPC's own default. */
    messageBytesMax: 4 * 1024 * 1024,
    /** The sockets in the registry's directory that are looked at. */
    socketsMax: 100,
    /** The API's own limits. */
    driverNameCharactersMax: 63,
    nodeIdCharactersMax: 192,
    /** The labels that one driver may give the node. */
    topologyKeysMax: 32,
    registrationRetry: Object.freeze({ initialMs: 500, maxMs: 60_000 }),
    reportRetry: Object.freeze({ initialMs: 500, maxMs: 30_000 }),
  }),
  localPathVolumes: Object.freeze({
    /** The node is registered within moments of the first try; a control plane may be away for days. */
    announceRetry: Object.freeze({ initialMs: 200, maxMs: 30_000 }),
  }),
})

export const containerdDefaults = Object.freeze({
  binary: 'containerd',
  snapshotter: 'overlayfs',
  handlers: Object.freeze({ runc: 'runc' }),
  /** On a slow, busy machine it takes a minute. One that ends meanwhile is not waited for. */
  startTimeoutMs: 120_000,
  stopTimeoutMs: 10_000,
  pollMs: 250,
  /** The longest wait between two starts of a containerd that keeps dying. */
  restartDelayMsMax: 30_000,
})

export const dialDefaults = Object.freeze({
  requestTimeoutMs: 120_000,
})

export const evictionDefaults = Object.freeze({
  checkMs: 10_000,
  memoryAvailableBytesMin: 100 * 1024 * 1024,
  diskAvailableShareMin: 0.1,
  inodesFreeShareMin: 0.05,
  pidsFreeShareMin: 0.02,
  /** A pressure is reported this long after it was last seen, so that it does not flap. */
  transitionMs: 300_000,
})

/** How pods are measured that bound what they take of the disk; times are in milliseconds. */
export const storageWatchDefaults = Object.freeze({
  checkMs: 60_000,
  /** The time for one directory. */
  measureMs: 60_000,
})

export const imageGarbageDefaults = Object.freeze({
  /** The share of the disk in use from which images are removed … */
  highShare: 0.85,
  /** … until this share is left in use. */
  lowShare: 0.8,
  /** An image that was seen for less than this is spared: a pod may be about to use it. */
  ageMsMin: 120_000,
  checkMs: 300_000,
})

export const imagePullDefaults = Object.freeze({
  /** The number of concurrent pulls; more would only share one link. */
  parallelMax: 3,
  backoffInitialMs: 10_000,
  backoffMaxMs: 300_000,
  /** The number of remembered failures; the oldest is forgotten. */
  failuresMax: 1_000,
})

export const logRotationDefaults = Object.freeze({
  /** Upstream's containerLogMaxSize and containerLogMaxFiles. */
  bytesMax: 10 * 1024 * 1024,
  filesMax: 5,
  checkMs: 10_000,
})

/** The bytes that the logs of one container take at most. */
export const logBytesMax = logRotationDefaults.bytesMax * logRotationDefaults.filesMax

export const nodeAgentDefaults = Object.freeze({
  /** The interval at which the status is computed; it is sent when it differs … */
  statusMs: 10_000,
  /** The same while the node is not ready: pods wait for that. */
  notReadyMs: 500,
  /** … or at least this often. */
  reportMs: 300_000,
  leaseRenewMs: 10_000,
  leaseSeconds: 40,
  /** The first report waits at most this long for the network to be looked at. */
  lookMsMax: 5_000,
  lookAgainMs: 50,
  /** The timeout of one request: a dead link must not delay the next attempt. */
  requestTimeoutMs: 10_000,
})

export const restartBackoffDefaults = Object.freeze({
  initialMs: 10_000,
  maxMs: 300_000,
})

export const dnsLimits = Object.freeze({
  /** The limits of resolvers, which ignore further entries. */
  serversMax: 3,
  searchesMax: 32,
  searchCharactersMax: 2048,
})

export const observerDefaults = Object.freeze({
  /** The interval of relists, which find exits that were not pushed. */
  relistMs: 1_000,
  resubscribeMs: 1_000,
  /** A sandbox that cannot be inspected for this long counts as one without a network. */
  inspectPatienceMs: 5_000,
})

export const deviceDefaults = Object.freeze({
  version: 'v1beta1',
  probeTimeoutMs: 15_000,
  /** The timeout of work on a device, e.g. a reset. */
  callTimeoutMs: 60_000,
  /** Devices of a plugin that is gone count as unhealthy for so long: upstream's. */
  goneKeptMs: 300_000,
  /** The interval at which the devices of ended pods are freed; they are also freed when others are given. */
  pruneMs: 10_000,
})

export const csiDefaults = Object.freeze({
  /** The interval at which the registry's directory is looked at. */
  scanMs: 1_000,
  /** The timeout of questions to a plugin. */
  probeTimeoutMs: 15_000,
  /** The timeout of work on a volume: kubelet's. */
  callTimeoutMs: 120_000,
  /** The timeout of one request to the API, after which what is on record counts. */
  requestTimeoutMs: 3_000,
  /** The time that a pod waits for a volume to be attached, before it reports that and waits again. */
  attachTimeoutMs: 120_000,
  attachPollMs: 1_000,
  /** The interval at which the CSINode object is compared with the drivers. */
  resyncMs: 60_000,
  /** The time that a driver has to come back after the agent's start, before the API forgets it. */
  forgetAfterMs: 300_000,
  /** The interval at which a volume is published again for drivers that ask for that. */
  republishMs: 60_000,
  expandRetryMs: 30_000,
  /** The interval at which drivers are asked how full their volumes are. */
  usageMs: 60_000,
})

export const workerDefaults = Object.freeze({
  /** The delay after a container could not be started. */
  retryMs: 10_000,
  /** The delay after a failed pull, until the wait for the next one is reported. */
  pullRetryMs: 2_000,
  /** The interval of retries while the node lacks room for a resize. */
  resizeRetryMs: 5_000,
  /** The longest time between two plans, in case an event was missed. */
  resyncMs: 60_000,
})

export const terminationMessageLimits = Object.freeze({
  fileBytesMax: 4096,
  logBytesMax: 2048,
  logLinesMax: 80,
})

export const callerCheckDefaults = Object.freeze({
  /** The times of upstream's webhook cache: permissions are cached longer than refusals. */
  allowedMs: 5 * 60_000,
  refusedMs: 30_000,
  entriesMax: 1_000,
})

export const staticPodDefaults = Object.freeze({
  scanMs: 5_000,
  /** The number of manifests to read; further ones are logged and ignored. */
  manifestsMax: 100,
})

export const nodeStoreDefaults = Object.freeze({
  /** The age that a list of services may have when a container starts. */
  servicesMaxAgeMs: 5_000,
  /** The time that a pod waits for objects that were never seen, before it reports that. */
  lookupTimeoutMs: 15_000,
  /** The time to wait for the API if an older answer would suffice. */
  refreshTimeoutMs: 3_000,
})

export const referenceDefaults = Object.freeze({
  /** The objects watched one by one, each with a connection. Further ones are polled. */
  watchedMax: 100,
  pollMs: 30_000,
  /** The interval for an object that is missing, or a claim that is not bound yet. */
  pollMissingMs: 2_000,
  retryMs: 1_000,
})
