/** Bounds of roles/control-plane that no caller sets, by the file that keeps them. */
export const controlPlaneBounds = Object.freeze({
  accessFiles: Object.freeze({
    /** The interval at which files are checked, in milliseconds. */
    lookMs: 5_000,
  }),
  certificateUpkeep: Object.freeze({
    /**
     * The interval at which certificates are checked, in milliseconds; they are also checked when the clock is
     * set.
     */
    lookMs: 60_000,
    /** The interval at which the machine's addresses are read, in milliseconds. */
    addressLookMs: 5_000,
    /** The interval at which a lasting problem is logged again, in milliseconds. */
    tellMs: 24 * 3_600_000,
  }),
  openAudit: Object.freeze({
    bodyBytesMax: 1024 * 1024,
  }),
  sharedEncryption: Object.freeze({
    /** The interval at which a server looks at the record of the keys and at its file, in milliseconds. */
    lookMs: 2_000,
    retry: Object.freeze({ initialMs: 500, maxMs: 10_000 }),
  }),
  readableSecrets: Object.freeze({
    /** A key that opens none of so many Secrets is another store's key. */
    sampleMax: 100,
  }),
})
