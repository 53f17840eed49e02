/** Decides about snapshots by their names, which have the time at which each was made by the clock of then. */

/** Returns the name of a snapshot that is made now, e.g. snapshot-2026-11-24T03-30-00Z.db. */
export function backupName(nowMs: number): string {
  const stamp = new Date(nowMs)
    .toISOString()
    .replaceAll(':', '-')
    .replace(/\.\d+Z$/, 'Z')
  return `snapshot-${stamp}.db`
}

/** Returns true unless one was made within the interval. */
export function isBackupDue(names: readonly string[], nowMs: number, everyMs: number): boolean {
  const newestMs = Math.max(...backupTimes(names).filter((ms) => ms <= nowMs))
  return nowMs - newestMs >= everyMs
}

/** Returns the snapshots that are too many, oldest first. */
export function surplusBackups(names: readonly string[], nowMs: number, keep: number): string[] {
  const backups = names.filter((name) => timeOf(name) !== undefined).toSorted()
  // A time that is yet to come was given by a clock that was ahead: whatever is made now is newer.
  const isAhead = (name: string): boolean => (timeOf(name) ?? 0) > nowMs
  const byAge = [...backups.filter(isAhead), ...backups.filter((name) => !isAhead(name))]
  return byAge.slice(0, Math.max(0, byAge.length - keep))
}

function backupTimes(names: readonly string[]): number[] {
  return names.map(timeOf).filter((ms) => ms !== undefined)
}

/** Returns undefined for the name of another file. */
function timeOf(name: string): number | undefined {
  const [, day, hour, minute, second] =
    /^snapshot-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db$/.exec(name) ?? []
  if (day === undefined) return undefined
  return Date.parse(`${day}T${hour}:${minute}:${second}Z`)
}
