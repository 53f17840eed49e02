/** Bounds of roles/machine that no caller sets, by the file that keeps them. */
export const machineBounds = Object.freeze({
  ownShell: Object.freeze({
    /** A command that names no time of its own. */
    commandMsMax: 60_000,
    outputBytesMax: 1024 * 1024,
  }),
  askServer: Object.freeze({
    answerMs: 20_000,
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
  joinSite: Object.freeze({
    tokenTtlSeconds: 600,
  }),
})
