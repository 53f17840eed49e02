import { messageOf } from '@skerry/base'
import { cloneJson, isJsonObject, setMember } from '@skerry/api'
import type { OverrideOperator } from '@skerry/karmada-kinds'

export interface OverridePatch {
  readonly operator: OverrideOperator
  /** A JSON pointer. */
  readonly path: string
  readonly value?: unknown
}

/**
 * Returns a copy of the document after these operations, in their order. Members keep their places. Throws
 * Error with the messages of Karmada's patch library, which distinguishes a missing path from a missing key.
 * Policies have only three operators, so the rest of RFC 6902 is left out.
 */
export function patchDocument(document: unknown, patches: readonly OverridePatch[]): unknown {
  return patchInPlace(cloneJson(document), patches)
}

/** Does the same to a document that nobody else uses. */
export function patchInPlace(document: unknown, patches: readonly OverridePatch[]): unknown {
  return patches.reduce(applyOne, document)
}

function applyOne(document: unknown, patch: OverridePatch): unknown {
  const { operator, path } = patch
  const value = cloneJson(patch.value ?? null)
  if (path === '' && operator !== 'remove') return value
  const slot = slotOf(document, path)
  if (slot === undefined) {
    const shown = operator === 'replace' ? path : `"${path}"`
    throw new Error(
      `${operator} operation does not apply: doc is missing path: ${shown}: missing value`,
    )
  }
  if (operator === 'replace') replace(slot, path, value)
  else inPath(patch, () => (operator === 'add' ? add(slot, value) : remove(slot)))
  return document
}

interface Slot {
  readonly container: Record<string, unknown> | unknown[]
  readonly key: string
}

/** Returns undefined if a step of the path is missing. */
function slotOf(document: unknown, path: string): Slot | undefined {
  const [root, ...tokens] = path.split('/')
  const key = tokens.pop()
  if (root !== '' || key === undefined) return undefined
  let container = containerOf(document)
  for (const token of tokens) {
    if (container === undefined) return undefined
    container = containerOf(memberAt(container, unescapeToken(token)))
  }
  return container === undefined ? undefined : { container, key: unescapeToken(key) }
}

/** A number that is kept as it was written is an object that is frozen. */
function containerOf(value: unknown): Slot['container'] | undefined {
  if (Object.isFrozen(value)) return undefined
  return Array.isArray(value) || isJsonObject(value) ? value : undefined
}

function memberAt(container: Slot['container'], key: string): unknown {
  if (!Array.isArray(container)) return Object.hasOwn(container, key) ? container[key] : undefined
  const index = readIndex(key)
  return index === undefined ? undefined : container.at(index)
}

function add({ container, key }: Slot, value: unknown): void {
  if (!Array.isArray(container)) return setMember(container, key, value)
  if (key === '-') return void container.push(value)
  const index = readIndex(key)
  if (index === undefined) {
    throw new Error(`value was not a proper array index: '${key}': ${notANumber(key)}`)
  }
  const count = container.length + 1
  if (index >= count || index < -count) throw new Error(outOfBounds(index))
  container.splice(index < 0 ? index + count : index, 0, value)
}

function remove({ container, key }: Slot): void {
  if (Array.isArray(container)) {
    container.splice(existingIndex(container, key), 1)
    return
  }
  if (!Object.hasOwn(container, key)) {
    throw new Error(`unable to remove nonexistent key: ${key}: missing value`)
  }
  delete container[key]
}

function replace({ container, key }: Slot, path: string, value: unknown): void {
  const isThere = Array.isArray(container)
    ? hasIndex(container, key)
    : Object.hasOwn(container, key)
  if (!isThere) {
    throw new Error(`replace operation does not apply: doc is missing key: ${path}: missing value`)
  }
  if (Array.isArray(container)) container[existingIndex(container, key)] = value
  else setMember(container, key, value)
}

function hasIndex(list: readonly unknown[], key: string): boolean {
  const index = readIndex(key)
  return index !== undefined && index < list.length && index >= -list.length
}

function existingIndex(list: readonly unknown[], key: string): number {
  const index = readIndex(key)
  if (index === undefined) throw new Error(notANumber(key))
  if (index >= list.length || index < -list.length) throw new Error(outOfBounds(index))
  return index < 0 ? index + list.length : index
}

function readIndex(key: string): number | undefined {
  return /^[-+]?[0-9]{1,9}$/.test(key) ? Number(key) : undefined
}

function notANumber(key: string): string {
  return `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`
}

function outOfBounds(index: number): string {
  return `Unable to access invalid index: ${index}: invalid index referenced`
}

/** Prefixes an error with the operation that failed. */
function inPath({ operator, path }: OverridePatch, act: () => void): void {
  try {
    act()
  } catch (error) {
    const why = messageOf(error)
    throw new Error(`error in ${operator} for path: '${path}': ${why}`, { cause: error })
  }
}

function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}
