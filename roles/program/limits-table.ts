/** Bounds of roles/program that no caller sets, by the file that keeps them. */
export const programBounds = Object.freeze({
  heldPrograms: Object.freeze({
    /** A program for machines says its version. */
    askVersionMsMax: 30_000,
    /** The mark of a version that lies across two pieces of a file. */
    markCharsMax: 100,
    /** Programs whose version is not read again. */
    knownMax: 100,
  }),
  downloads: Object.freeze({
    /** The downloads at the same time: a file and two pieces in memory for each. */
    atOnceMax: 64,
    /** Those of one address, or of one IPv6 network of 64 bits. A branch may be behind one address. */
    ofSourceMax: 16,
    /** A reader that has not taken a piece for this long gives way when others wait. */
    slowMs: 10_000,
    /** A reader that has taken nothing for this long is let go. */
    awayMs: 60_000,
    retryAfterSeconds: 5,
  }),
  programRoute: Object.freeze({
    pieceBytes: 64 * 1024,
    /** `bytes=<first>-<last>` with numbers as long as a file may be. */
    rangeCharactersMax: 64,
  }),
  packageShelf: Object.freeze({
    /** The directories below one --package that are looked at. */
    listedMax: 256,
    /** The packages whose manifests are kept in memory. */
    knownMax: 8,
    /** The directories are listed again after this time, if somebody asks for a package that is unknown. */
    listMsMin: 1_000,
  }),
  linePackage: Object.freeze({
    /** The answer that names the package of a site. */
    offeredBytesMax: 16 * 1024,
  }),
  installScript: Object.freeze({
    /** An early end of a download without any progress, before the machine gives up. */
    triesMax: 20,
    pauseSecondsMax: 10,
    /** Free space in addition to the files themselves. */
    spareMegabytes: 100,
    /** The answer that shows whether the token is known: cluster-info with a signature for each token. */
    infoBytesMax: 1024 * 1024,
    /** A reader of the script itself stops here. */
    scriptBytesMax: 64 * 1024,
  }),
})
