import { cloneJson, isJsonObject, memberOf, type JsonObject } from '@skerry/api'

/**
 * Lists and maps that a request sent empty, by the object whose members they were. Decoding treats
 * them as omitted, as storage does; until then upstream distinguishes them, in generations and in
 * messages.
 */
const sentEmpty = new WeakMap<object, Map<string, unknown>>()
/** Decoded objects that have such members anywhere. */
const holders = new WeakSet<object>()
/** Lists whose items have such members. */
const lists = new WeakSet<object>()

/** The caller that decodes the whole object must call noteHolder afterwards. */
export function noteSentEmpty(holder: JsonObject, key: string, value: unknown): void {
  const noted = sentEmpty.get(holder) ?? new Map<string, unknown>()
  sentEmpty.set(holder, noted.set(key, value))
}

/** Records that the object, or something in it, has a noted member. */
export function noteHolder(root: JsonObject): void {
  holders.add(root)
}

export function noteList(list: readonly unknown[]): void {
  lists.add(list)
}

/**
 * Checks a value that is owned as a whole: upstream compares lists, and no other values, including
 * everything empty in them.
 */
export function hasListSentEmpty(value: unknown): boolean {
  const open = [value]
  while (open.length > 0) {
    const each = open.pop()
    if (Array.isArray(each)) {
      if (lists.has(each)) return true
    } else if (isJsonObject(each)) open.push(...Object.values(each))
  }
  return false
}

/** Returns the member for a message: as it was sent if it was empty, or null if it was not sent. */
export function memberAsSent<T extends object>(
  holder: T | undefined,
  key: keyof T & string,
): unknown {
  if (holder === undefined) return null
  return holder[key] ?? sentEmpty.get(holder)?.get(key) ?? null
}

/**
 * Returns true if any list or map of the decoded object was sent empty and still is, except for
 * some of its members.
 */
export function hasSentEmpty(root: JsonObject, exceptKeys: readonly string[]): boolean {
  if (!holders.has(root)) return false
  if (isEmptyNoted(root, exceptKeys)) return true
  const open: unknown[] = Object.entries(root).flatMap(([key, member]) =>
    exceptKeys.includes(key) ? [] : [member],
  )
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    if (isEmptyNoted(value, [])) return true
    open.push(...Object.values(value))
  }
  return false
}

/** Copies a decoded object deeply, with its notes. */
export function cloneAsSent<T extends object>(root: T): T {
  const copy = cloneJson(root)
  if (!holders.has(root)) return copy
  holders.add(copy)
  const open: (readonly [unknown, unknown])[] = [[root, copy]]
  for (const [from, to] of open) {
    if (typeof from !== 'object' || from === null || typeof to !== 'object' || to === null) continue
    const noted = sentEmpty.get(from)
    if (noted) sentEmpty.set(to, noted)
    if (lists.has(from)) lists.add(to)
    const members = new Map(Object.entries(to))
    for (const [key, member] of Object.entries(from)) open.push([member, members.get(key)])
  }
  return copy
}

/** A default may have been set since. */
function isEmptyNoted(holder: object, exceptKeys: readonly string[]): boolean {
  const noted = sentEmpty.get(holder)
  if (!noted || !isJsonObject(holder)) return false
  return [...noted.keys()].some(
    (key) => !exceptKeys.includes(key) && isEmpty(memberOf(holder, key)),
  )
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === null
  return Object.keys(value).length === 0
}
