/** Bounds of roles/machine that no caller sets, by the file that keeps them: times in milliseconds. */
export const machineBounds = Object.freeze({
  applyManifests: Object.freeze({
    objectsMax: 1_000,
  }),
  ownShell: Object.freeze({
    /** A command that names no time of its own. */
    commandMsMax: 60_000,
    outputBytesMax: 1024 * 1024,
  }),
  askServer: Object.freeze({
    answerMs: 20_000,
  }),
  fetchFile: Object.freeze({
    /** An end of a download without any progress, before the machine gives up. */
    triesMax: 20,
    pauseMs: 1_000,
    pauseMsMax: 10_000,
    /** A server that sends nothing for so long counts as gone. */
    silentMsMax: 30_000,
    refusalBytesMax: 65_536,
  }),
  takePackage: Object.freeze({
    /** The room that stays free, for what the packages unpack to. */
    spareBytes: 1024 * 1024 * 1024,
  }),
  fetchAll: Object.freeze({
    /** The files that a message names. */
    namedMax: 5,
  }),
  readToken: Object.freeze({
    inputBytesMax: 4_096,
  }),
  untilReady: Object.freeze({
    /** A node imports its images first, on a slow disk. */
    readyMsMax: 300_000,
    lookMs: 500,
    askMsMax: 10_000,
    /** systemd starts a failing unit again every two seconds; after so many it will not come. */
    restartsMax: 5,
    journalLines: 15,
  }),
  thisSite: Object.freeze({
    tokenTtlSeconds: 600,
  }),
  drain: Object.freeze({
    /** How often the pods of a node that is drained are looked at. */
    lookMs: 1_000,
    /** If budgets alone keep pods for so long, the attempt ends: its message tells which ones. */
    blockedMsMax: 5_000,
    timeoutDefault: '2m',
    /** The pods that a message names. */
    namedPodsMax: 5,
  }),
  /** A node that leads a unit. */
  unit: Object.freeze({
    lead: Object.freeze({
      /** The interval at which the parent is asked while nothing changes, and while something does. */
      calmMs: 5_000,
      busyMs: 500,
    }),
    parent: Object.freeze({
      answerMs: 10_000,
      /** A content comes over slow links, too. */
      contentMs: 600_000,
      /** The interval at which the node's own identity is read again. */
      reopenMs: 3_600_000,
      bodyBytesMax: 65_536,
      contentBytesMax: 64 * 1024 * 1024,
    }),
    site: Object.freeze({
      tokenTtlSeconds: 600,
      /** A token of a further server opens all keys of the unit. */
      masterTokenTtlSeconds: 600,
      /** The interval at which a control plane tries again to get an etcd. */
      growAgainMs: 60_000,
      /** The letters of a fault that are reported to the parent. */
      troubleMax: 500,
    }),
  }),
  /** A short command that asks the site on this machine. */
  requestMsMax: 10_000,
  /** How often a change of a node is tried that others change at the same time. */
  conflictsMax: 10,
})
