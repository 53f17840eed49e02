/** Bounds of the console's server side that no caller sets, by the file that keeps them. */
export const consoleBounds = Object.freeze({
  sessions: Object.freeze({
    lifetimeMs: 12 * 3_600_000,
    /** A session ends this long after its last request. Checks of open streams do not count. */
    idleMs: 30 * 60_000,
    /** How often the last use is written down. A session may end that much earlier than after `idleMs`. */
    touchMs: 60_000,
    perUserMax: 16,
    inAllMax: 4_096,
    codeMs: 10 * 60_000,
    codesPerUserMax: 16,
    codesInAllMax: 1_024,
    sweepMs: 60_000,
  }),
  loginAttempts: Object.freeze({
    /** The failures that one address may have at once, and the time after which it may have one more. */
    perAddressMax: 10,
    perAddressMs: 6_000,
    inAllMax: 200,
    inAllMs: 100,
    addressesMax: 10_000,
  }),
  sessionRoutes: Object.freeze({
    bodyBytesMax: 32_768,
  }),
  fleetBoard: Object.freeze({
    /** How often changes are looked for, and how often a reader gets them at most. */
    stepMs: 1_000,
    messageCharsMax: 200,
  }),
  visibleClusters: Object.freeze({
    /** How long the list of the clusters that a user may see is used. */
    keptMs: 10_000,
    usersMax: 256,
    clustersPerTurn: 100,
  }),
  fleetRoute: Object.freeze({
    beatMs: 15_000,
    streamsPerUserMax: 64,
  }),
  watchesRoute: Object.freeze({
    streamsPerUserMax: 24,
    frameBytesMax: 16_384,
    /** Frames of a tab that wait to be carried out. */
    beatMs: 10_000,
  }),
  watchesStream: Object.freeze({
    watchesMax: 64,
    pathCharsMax: 4_096,
    /** Frames that may be sent for a watch before the tab asks for more. */
    credits: 32,
    creditsMax: 1_024,
    /** With more bytes on their way to the tab, nothing is read for it. */
    waitingBytesMax: 1_048_576,
    /** A watch whose tab takes nothing for this time ends, and begins again with a snapshot when the tab takes again. */
    slowMs: 5_000,
    opensPerSecondMax: 64,
  }),
  refusedError: Object.freeze({
    messageCharsMax: 2_000,
    statusBytesMax: 65_536,
    retryAfterSecondsMax: 60,
  }),
  watchedList: Object.freeze({
    pageObjects: 250,
    /** Rows of a Table are a tenth as large. */
    pageRows: 1_000,
    /** A page that is too large is asked for again with half as many objects, down to this. */
    pageObjectsMin: 4,
    pageBytesMax: 8_388_608,
    eventBytesMax: 4_194_304,
    /** Events of this time travel in one frame. */
    gatherMs: 100,
    gatheredMax: 500,
    gatheredBytesMax: 1_048_576,
    /** A list that is not there after this time is said to wait for its cluster. */
    quietMs: 10_000,
    retryMsMin: 1_000,
    retryMsMax: 30_000,
  }),
  searchRoute: Object.freeze({
    clustersAtOnce: 32,
    /** For all requests to one cluster. */
    clusterMs: 3_000,
    /** For all clusters. */
    allMs: 60_000,
    pageObjects: 500,
    pageBytesMax: 4_194_304,
    kindsMax: 8,
    textCharsMin: 2,
    textCharsMax: 253,
    limitDefault: 100,
    limitMax: 1_000,
    errorCharsMax: 500,
    perUserMax: 2,
  }),
  auditSearch: Object.freeze({
    chunkBytes: 262_144,
    lineBytesMax: 65_536,
    /** More files than a log ever has. */
    filesMax: 16,
    /** A search that has taken this long ends early. */
    timeMs: 5_000,
    answerBytesMax: 4_194_304,
    limitDefault: 100,
    limitMax: 1_000,
    textCharsMax: 512,
    /** Lines are in the order of their ends, but for this much. */
    orderMs: 5_000,
    perUserMax: 2,
  }),
  tunnelHistory: Object.freeze({
    stepMs: 10_000,
    /** An hour. */
    pointsMax: 360,
    /** The clusters that have a history, each in 6 kB. Those beyond have none. */
    clustersMax: 5_000,
    clustersPerTurn: 100,
  }),
  issuerLogin: Object.freeze({
    /** The time for a person at the issuer. */
    personMs: 10 * 60_000,
    requestsMs: 20_000,
  }),
})
