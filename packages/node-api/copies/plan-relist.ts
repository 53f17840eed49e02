/** The state of one object in a copy. */
export interface KnownObject {
  readonly revision: number
  readonly uid: string
}

/** An object of a list. */
export interface ListedObject extends KnownObject {
  readonly key: string
  readonly value: Uint8Array
}

export interface CopyEvent {
  readonly type: 'put' | 'delete'
  readonly key: string
  /** Canonical JSON without a resourceVersion; empty for a delete. */
  readonly value: Uint8Array
  readonly revision: number
  readonly uid: string
}

/**
 * Compares a new list with a copy that missed a part of the history. Returns the events that lead from one to the
 * other, in the order of their revisions, so that watches of the copy go on. Returns undefined if the server's
 * revisions went back, as after a restored backup: then no watch can go on.
 */
export function planRelist(
  copy: { readonly revision: number; readonly known: ReadonlyMap<string, KnownObject> },
  list: { readonly revision: number; readonly objects: readonly ListedObject[] },
): readonly CopyEvent[] | undefined {
  if (list.revision < copy.revision) return undefined
  const events: CopyEvent[] = []
  const gone = new Map(copy.known)
  for (const { key, revision, uid, value } of list.objects) {
    const before = gone.get(key)
    gone.delete(key)
    if (before?.uid === uid && before.revision === revision) continue
    // A change that the copy must have seen is none of this history.
    if (revision <= copy.revision) return undefined
    if (before && before.uid !== uid) {
      // It was deleted after the copy's revision, and before the new object was created.
      events.push({ type: 'delete', key, revision: revision - 1, uid: before.uid, value: empty })
    }
    events.push({ type: 'put', key, revision, uid, value })
  }
  for (const [key, { uid }] of gone) {
    events.push({ type: 'delete', key, revision: list.revision, uid, value: empty })
  }
  return events.toSorted((one, other) => one.revision - other.revision)
}

const empty = new Uint8Array(0)
