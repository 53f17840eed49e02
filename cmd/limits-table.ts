/** Bounds of the commands that no caller sets, by the file that keeps them. */
export const commandBounds = Object.freeze({
  karmadaManifest: Object.freeze({
    /** A token that an API server grants lasts ten minutes at least. */
    ttlMsMin: 10 * 60_000,
  }),
  encryptionCommands: Object.freeze({
    /** Every Secret of a large cluster is written again. */
    rotateMsMax: 600_000,
  }),
  loginCommands: Object.freeze({
    /** Several minutes for a person, after another login that may be in progress. */
    personMsMax: 600_000,
  }),
  /** Commands of one machine have long enough for slow disks, and end soon enough to notice. */
  answerMsMax: 300_000,
})
