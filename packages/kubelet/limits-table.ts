/**
 * Bounds of the kubelet that no caller sets, by the file that keeps them: `superviseContainerd` is supervise-containerd.ts.
 */
export const kubeletBounds = Object.freeze({
  superviseContainerd: Object.freeze({
    /** The limit of a socket path: sun_path holds 108 bytes with its final zero. */
    socketPathBytesMax: 107,
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
  tokenSource: Object.freeze({
    /** The delay before another attempt if an old token was used, in milliseconds. */
    retryMs: 60_000,
    requestTimeoutMs: 5_000,
  }),
})
