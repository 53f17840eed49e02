/** The bounds of the console in one tab of a browser. */

/** One stream carries all that a tab watches. */
export const streamLimits = Object.freeze({
  /** The hub's own bound; a page that needs more waits for one to end. */
  watchesMax: 64,
  reconnectMsMin: 500,
  reconnectMsMax: 15_000,
  /** The hub beats every 10 s. A stream that is silent for this time is dialled again. */
  silenceMsMax: 25_000,
  /** A tab that nobody sees gives its stream back after this time. */
  hiddenMsMax: 60_000,
  /** How long a list is kept after the last page that showed it was left. */
  keptMs: 15_000,
  /** Frames that the hub may send ahead of this tab, for each watch. */
  credits: 32,
})

/** A followed log. */
export const followLimits = Object.freeze({
  endsMax: 3,
  /** How often a container that has not started is asked for its log. */
  startingMs: 2_000,
})

/** Single requests. */
export const requestLimits = Object.freeze({
  timeoutMs: 30_000,
  /** A longer answer is refused: pages show objects, not archives. */
  answerCharsMax: 16 * 1024 * 1024,
  /** The part of a refusal that is read. */
  errorCharsMax: 256 * 1024,
})

/** Times after which something is shown or asked again. */
export const timeLimits = Object.freeze({
  /** A break that is shorter is mended before anybody has read about it. */
  quietBreakMs: 1_500,
  /** An answer that is older does not prove that the hub is there. Streams are dialled again at least that often. */
  answerFreshMs: 40_000,
  /** A clock that differs by more is mentioned. */
  skewMsMin: 60_000,
  /** How often a hidden tab publishes what it watches. */
  hiddenFrameMs: 1_000,
  /** A form is checked when nobody has typed for this time. */
  pauseMs: 400,
  /** How long a button says that it has copied. */
  confirmedMs: 1_500,
  /** How long a check of machines may take to be removed. */
  checkGoneMs: 30_000,
  /** How often pages ask again for what no watch brings. */
  askAgainMs: 5_000,
  /** After this time a browser has taken a file that is to be saved. */
  savedMs: 30_000,
  /** How long a page with something typed into it waits for the same user to log in again. */
  draftKeptMs: 15 * 60_000,
  /** How long an answer about the user's rights is believed. */
  rightsMs: 60_000,
  /** An explanation costs the hub a look at the whole fleet. */
  explainAgainMs: 10_000,
  /** A certificate that ends earlier has not been renewed in time. */
  certificateSoonMs: 3 * 24 * 3_600_000,
  /** The same for one that nobody is known to renew. */
  certificateDueMs: 30 * 24 * 3_600_000,
  /** How long the list of a server's schemas is used: its custom resources may change. */
  schemaMs: 60_000,
})

/** Bounds of the drawn pages. */
export const viewLimits = Object.freeze({
  /** A skeleton appears only if an answer takes longer than this. */
  skeletonMs: 150,
  /** Rows above and below the visible ones. */
  overscanRows: 8,
  /** Numbers in texts of up to this many digits are sorted by their size. */
  sortedDigits: 20,
  labelChars: 64,
  /** The key of a chosen row in the address of a page. */
  addressRowChars: 512,
  /** A cell of a table that a server prints, and its title. */
  cellChars: 1_000,
  groupsMax: 200,
  /** Clusters that need a look, on the overview; the list has all of them. */
  attentionRows: 8,
  /** A fleet of more clusters is drawn as shapes without names. */
  namedCells: 120,
  /** Keys of labels that are offered for grouping. */
  labelChoices: 20,
  /** A name in the palette is searched among this many clusters. */
  paletteMatches: 12,
  /** The lines of a log that stay in memory. */
  logLinesMax: 20_000,
  logLineCharsMax: 16_384,
  /** The characters of all these lines together. */
  logCharsMax: 16 * 1024 * 1024,
  /** Lines of one moment by which a stream that goes on is told from new ones. */
  logSameTimeMax: 1_000,
  /** Containers whose logs are shown together: each is a stream of its own. */
  logPodsMax: 8,
  /** How far back a line of another pod may be put in order. */
  logReorderLines: 500,
  logTailLines: 1_000,
  terminalLines: 5_000,
  eventsMax: 500,
  /** The hub's own bound of machines in one cluster, for ranges of addresses. */
  machinesMax: 1_000,
  /** Nodes that joined, on the page that waits for them. */
  joinedRows: 50,
  /** The shortest text that the hub looks for in all clusters. */
  searchCharsMin: 2,
  /** Objects that a search over all clusters brings at most. */
  foundMax: 500,
  /** Lines of the audit log that are asked for at once. */
  auditLines: 200,
  /** Clusters of a wave, the worst first; a table has all of them. */
  waveClusters: 12,
  /** Names of clusters in the preview of a policy. */
  previewClusters: 60,
  /** Steps from a schema to the one that it refers to. */
  schemaHopsMax: 16,
  /** Odd fields of an edited object. */
  findingsMax: 50,
  /** A policy that has claimed more objects says so. */
  claimedMax: 500,
})
