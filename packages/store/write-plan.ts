import type { LogRow } from './sqlite-log.ts'
import { ValueTooLargeError } from './store-errors.ts'
import type { Entry, StoreEvent, Write, WriteResult } from './store.ts'
import { type StoreLimits } from './limits-table.ts'

export type WritePlan =
  | { readonly row: LogRow; readonly event: StoreEvent; readonly result: WriteResult }
  /** Nothing to write: the write was refused, or deletes a missing key. */
  | { readonly row?: undefined; readonly result: WriteResult }

/** Plans a write. A pure function. `revision` is the newest one, `previous` the key's present entry. */
export function planWrite(write: Write, previous: Entry | undefined, revision: number): WritePlan {
  const { key, value, expectRevision } = write
  if (expectRevision !== undefined && expectRevision !== (previous?.modRevision ?? 0)) {
    const refused = { isApplied: false, revision } as const
    return { result: previous ? { ...refused, current: previous } : refused }
  }
  const modRevision = revision + 1
  const applied = { isApplied: true, revision: modRevision } as const
  const result = previous ? { ...applied, previous } : applied
  if (value !== undefined) {
    const createRevision = previous?.createRevision ?? modRevision
    const put: StoreEvent = { type: 'put', key, value, modRevision, createRevision }
    const event = previous ? { ...put, previous } : put
    return { row: rowOf(event, previous, write.leaseId ?? 0), event, result }
  }
  if (previous === undefined) return { result: { isApplied: true, revision } }
  const { createRevision } = previous
  const event: StoreEvent = {
    type: 'delete',
    key,
    value: previous.value,
    modRevision,
    createRevision,
    ...(previous.isDamaged ? { isDamaged: true } : {}),
  }
  return { row: rowOf(event, previous, 0), event, result }
}

/** Returns the first required key, or else the first companion's, that does not have the expected revision. */
export function refusingKey(
  { requires = [], companions = [] }: Pick<Write, 'requires' | 'companions'>,
  revisionOf: (key: string) => number,
): string | undefined {
  const required = requires.find(({ key, revision }) => revisionOf(key) !== revision)
  if (required) return required.key
  return companions.find(({ key, expectRevision }) => revisionOf(key) !== expectRevision)?.key
}

const noBytes = new Uint8Array(0)

function rowOf(event: StoreEvent, previous: Entry | undefined, leaseId: number): LogRow {
  const isDeleted = event.type === 'delete'
  return {
    revision: event.modRevision,
    key: event.key,
    createRevision: event.createRevision,
    previousRevision: previous?.modRevision ?? 0,
    isDeleted,
    leaseId,
    value: isDeleted ? noBytes : event.value,
  }
}

/** Throws RangeError for a write that no store would take. */
export function checkWrite({ companions = [], ...write }: Write, limits: StoreLimits): void {
  checkOne(write, limits)
  const keys = new Set([write.key])
  for (const companion of companions) {
    checkOne(companion, limits)
    if (keys.has(companion.key)) throw new RangeError(`Cannot write ${companion.key} twice at once`)
    keys.add(companion.key)
  }
  if (companions.length <= limits.companionsMax) return
  const text = `it changes ${companions.length + 1} keys at once, at most ${limits.companionsMax + 1} are allowed`
  throw new ValueTooLargeError(`Cannot write key ${write.key}: ${text}`)
}

function checkOne({ key, value }: Write, limits: StoreLimits): void {
  if (key === '') throw new RangeError('Cannot write: the key is empty')
  // A lone surrogate has no UTF-8 form and would collide with its replacement character.
  if (!key.isWellFormed()) throw new RangeError(`Cannot write key ${key}: it is not valid Unicode`)
  if (key.length > limits.keyBytesMax || Buffer.byteLength(key) > limits.keyBytesMax) {
    throw new RangeError(`Cannot write: the key is longer than ${limits.keyBytesMax} bytes`)
  }
  if (value !== undefined && value.length > limits.valueBytesMax) {
    const text = `its value has ${value.length} bytes, at most ${limits.valueBytesMax} are allowed`
    throw new ValueTooLargeError(`Cannot write key ${key}: ${text}`)
  }
}
