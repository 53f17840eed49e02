import { cloneJson, isJsonObject, memberOf, type JsonObject } from '@skerry/api'

/**
 * Lists and maps that a request sent empty, by the object that they were members of. Decoding takes them
 * for absent, as storage does; upstream tells them apart until then, in generations and in messages.
 */
const sentEmpty = new WeakMap<object, Map<string, unknown>>()
/** Decoded objects that have such members anywhere. */
const holders = new WeakSet<object>()
/** Lists in whose items there are such members. */
const lists = new WeakSet<object>()

/** Whoever decodes the whole object calls noteHolder afterwards. */
export function noteSentEmpty(holder: JsonObject, key: string, value: unknown): void {
  const noted = sentEmpty.get(holder) ?? new Map<string, unknown>()
  sentEmpty.set(holder, noted.set(key, value))
}

/** That something was noted of the object, or of what is in it. */
export function noteHolder(root: JsonObject): void {
  holders.add(root)
}

export function noteList(list: readonly unknown[]): void {
  lists.add(list)
}

/** Of a value that is owned as a whole: upstream compares its lists, and no other values, with all that is empty. */
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

/** The member as a message shows it: as it was sent, where it is empty; null: it was not sent. */
export function memberAsSent<T extends object>(
  holder: T | undefined,
  key: keyof T & string,
): unknown {
  if (holder === undefined) return null
  return holder[key] ?? sentEmpty.get(holder)?.get(key) ?? null
}

/** Was any list or map of the decoded object sent empty, but for some of its members, and is it so still? */
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

/** A deep copy of a decoded object of which the same is known. */
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
