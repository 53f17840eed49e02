import type { Version, WatchedEvent, WatchRecord } from './history.ts'

type KeyVersion = Version & { readonly key: string }

/**
 * Returns the faults of watches of one kind: each shows every version once, in the order of revisions, and all show the
 * same. `written` has the writes that were acknowledged to somebody.
 */
export function watchFaults(
  watches: readonly WatchRecord[],
  written: readonly KeyVersion[],
): string[] {
  const { truth, faults } = commonTruth(watches, written)
  return [...faults, ...watches.flatMap((watch) => [...orderFaults(watch), ...gaps(watch, truth)])]
}

/** Returns what happened at each revision by all accounts, and where two accounts differ. */
function commonTruth(watches: readonly WatchRecord[], written: readonly KeyVersion[]) {
  const truth = new Map<number, string>()
  const faults: string[] = []
  const add = (who: string, { key, value, revision }: KeyVersion, isDelete = false): void => {
    const text = isDelete ? `${key} deleted` : `${key} = ${value}`
    const known = truth.get(revision) ?? text
    if (known !== text) faults.push(`${who}: revision ${revision} is ${text}, elsewhere ${known}`)
    truth.set(revision, known)
  }
  for (const each of written) add('a writer', each)
  for (const { watcher, listed, events } of watches) {
    for (const [key, version] of Object.entries(listed)) add(watcher, { key, ...version })
    for (const event of events) add(watcher, event, event.type === 'DELETED')
  }
  return { truth, faults }
}

function orderFaults({ watcher, from, listed, events }: WatchRecord): string[] {
  const faults: string[] = []
  const present = new Set(Object.keys(listed))
  let last = from
  for (const { type, key, revision } of events) {
    const name = `${watcher}: ${type} ${key} at ${revision}`
    if (revision === last) faults.push(`${name} was shown twice`)
    else if (revision < last) faults.push(`${name} came after ${last}`)
    last = Math.max(last, revision)
    if ((type === 'ADDED') === present.has(key)) {
      faults.push(`${name}, but the object was ${present.has(key) ? 'there' : 'not there'}`)
    }
    if (type === 'DELETED') present.delete(key)
    else present.add(key)
  }
  return faults
}

function gaps(
  { watcher, from, until, events }: WatchRecord,
  truth: ReadonlyMap<number, string>,
): string[] {
  const shown = new Set(events.map(({ revision }: WatchedEvent) => revision))
  return [...truth]
    .filter(([revision]) => revision > from && revision <= until && !shown.has(revision))
    .map(([revision, text]) => `${watcher}: revision ${revision} (${text}) was not shown`)
}

/** Returns the writes that were acknowledged and are gone: the key is not there, or has an older revision. */
export function lossFaults(
  written: readonly KeyVersion[],
  stored: ReadonlyMap<string, Version>,
): string[] {
  return written.flatMap(({ key, value, revision }) => {
    const found = stored.get(key)
    if (found && found.revision > revision) return []
    if (found && found.revision === revision && found.value === value) return []
    const state = found ? `it is ${found.value} at ${found.revision}` : 'it is not there'
    return [`${key}: ${value} was acknowledged at ${revision}, but ${state}`]
  })
}
