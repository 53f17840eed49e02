/** The file of one process of simulated sites. */
export interface SitesFile {
  /** The hub's URL, https://host:port. */
  readonly hub: string
  /** The directory in which each site's agent keeps its identity. */
  readonly directory: string
  /** The names of the sites. */
  readonly sites: readonly string[]
  /** The number of sites that connect for the first time together. */
  readonly atOnce: number
}

/** The message of a process of simulated sites when something has changed. Times are by the wall clock. */
export interface SitesReport {
  readonly open: number
  /** The times at which the first tunnel of a site opened since the last report. */
  readonly openedAtMs: readonly number[]
  /** The times at which objects were written at sites since the last report, by kind, name and image. */
  readonly writtenAtMs: Readonly<Record<string, readonly number[]>>
}
