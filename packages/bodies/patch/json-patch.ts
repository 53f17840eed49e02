import { wrongJsonType } from '../encoding/unreadable-body.ts'
import {
  StatusError,
  cloneJson,
  equalJson,
  isJsonObject,
  memberOf,
  setMember,
  type JsonObject,
} from '@skerry/api'
import { runSteps, type Steps } from '../steps.ts'
import { bodiesBounds, jsonPatchLimits } from '../limits-table.ts'

/**
 * Applies RFC 6902 as upstream does. Returns a new value, in which objects that operations looked
 * into have sorted keys; `original` stays as it is. Throws StatusError BadRequest if the patch is
 * malformed, RequestEntityTooLarge if it is too long, and Invalid if an operation fails.
 */
export function applyJsonPatch(original: Readonly<JsonObject>, patch: unknown): unknown {
  return runSteps(jsonPatchSteps(original, patch))
}

const { operationsPerStep } = bodiesBounds.jsonPatch

/** Does the same in steps; see Steps. */
export function* jsonPatchSteps(original: Readonly<JsonObject>, patch: unknown): Steps<unknown> {
  if (patch === null) return cloneJson(original)
  if (!Array.isArray(patch)) throw undecodable(patch, 'value of type []handlers.jsonPatchOp')
  if (patch.length > jsonPatchLimits.operationsMax) {
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${jsonPatchLimits.operationsMax}, got ${patch.length}`,
    )
  }
  const operations = patch.map(operationOf)
  const target = new PatchTarget(cloneJson(original))
  try {
    for (const [at, operation] of operations.entries()) {
      if (at % operationsPerStep === operationsPerStep - 1) yield
      target.apply(operation)
    }
    requireDepth(target.document)
    target.sortEntered()
  } catch (error) {
    if (!(error instanceof OperationError || error instanceof FailedTestError)) throw error
    // Upstream hides the reason; the cause keeps it.
    const message = 'the server rejected our request due to an error in our request'
    throw new StatusError('Invalid', message, { details: {}, cause: error })
  }
  return target.document
}

interface Operation {
  readonly op: string
  readonly path: string | undefined
  readonly from: string | undefined
  readonly value: unknown
}

function operationOf(item: unknown): Operation {
  if (item === null) return { op: '', path: undefined, from: undefined, value: null }
  if (!isJsonObject(item)) throw undecodable(item, 'value of type handlers.jsonPatchOp')
  const text = (key: string): string | undefined => {
    const value = memberOf(item, key)
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string') return value
    throw undecodable(value, `struct field jsonPatchOp.${key} of type string`)
  }
  const op = text('op') ?? ''
  return { op, path: text('path'), from: text('from'), value: memberOf(item, 'value') ?? null }
}

function undecodable(value: unknown, into: string): StatusError {
  return new StatusError('BadRequest', `error decoding patch: ${wrongJsonType(value, into)}`)
}

class OperationError extends Error {
  override name = 'OperationError'
}

/** Reports that a `test` found another value. It is the cause of the StatusError that applyJsonPatch throws. */
export class FailedTestError extends Error {
  override name = 'FailedTestError'
}

/** The target of a pointer: an existing container, and the last token. */
interface Slot {
  readonly container: JsonObject | unknown[]
  readonly key: string
}

class PatchTarget {
  document: unknown
  #copiedCharacters = 0
  /** The objects that operations have looked into. */
  readonly #entered = new Set<JsonObject>()

  constructor(document: unknown) {
    this.document = document
  }

  apply({ op, path, from, value }: Operation): void {
    switch (op) {
      case 'add':
        return add(this.#slot(path), cloneJson(value))
      case 'remove':
        return this.#remove(path)
      case 'replace':
        return this.#replace(path, cloneJson(value))
      case 'move':
        return this.#move(from, path)
      case 'copy':
        return add(this.#slot(path), this.#copied(from))
      case 'test':
        return this.#test(path, value)
      default:
        throw new OperationError(`Unexpected kind: ${op}`)
    }
  }

  /** Upstream writes these from maps, and everything else unchanged, as its messages show. */
  sortEntered(): void {
    if (isJsonObject(this.document)) this.#entered.add(this.document)
    for (const object of this.#entered) {
      for (const key of Object.keys(object).toSorted()) {
        const value = object[key]
        delete object[key]
        setMember(object, key, value)
      }
    }
  }

  /** The moved value is removed before its new place is looked up. */
  #move(from: string | undefined, path: string | undefined): void {
    const value = remove(this.#slot(from))
    add(this.#slot(path), value)
  }

  #remove(path: string | undefined): void {
    try {
      remove(this.#slot(path))
    } catch (error) {
      if (!(error instanceof OperationError)) throw error
      throw new OperationError(`error in remove for path: '${path ?? ''}': ${error.message}`)
    }
  }

  #replace(path: string | undefined, value: unknown): void {
    if (path === '') {
      if (typeof value !== 'object' || value === null) throw new OperationError('no document')
      this.document = value
      return
    }
    const { container, key } = this.#slot(path)
    if (Array.isArray(container)) container[existingIndex(container, key)] = value
    else setMember(container, key, value)
  }

  #copied(from: string | undefined): unknown {
    const value = get(this.#slot(from))
    requireDepth(value)
    this.#copiedCharacters += JSON.stringify(value).length
    if (this.#copiedCharacters > jsonPatchLimits.copiedCharactersMax) {
      throw new OperationError('the patch copies too much')
    }
    return cloneJson(value)
  }

  #test(path: string | undefined, value: unknown): void {
    const found = path === '' ? this.document : get(this.#slot(path))
    if (!equalJson(found, value))
      throw new FailedTestError(`testing value ${path ?? ''} failed: test failed`)
  }

  #slot(pointer: string | undefined): Slot {
    const tokens = pointer?.split('/')
    if (!tokens || tokens.length < 2 || tokens[0] !== '') {
      throw new OperationError(`bad pointer: ${pointer ?? ''}`)
    }
    const keys = tokens.slice(1).map(unescapeToken)
    const last = keys.pop() ?? ''
    let at = this.document
    for (const key of keys) {
      at = get({ container: this.#enter(at, pointer), key })
    }
    return { container: this.#enter(at, pointer), key: last }
  }

  #enter(value: unknown, pointer = ''): JsonObject | unknown[] {
    if (!isContainer(value)) throw new OperationError(`missing path: ${pointer}`)
    if (!Array.isArray(value)) this.#entered.add(value)
    return value
  }
}

function isContainer(value: unknown): value is JsonObject | unknown[] {
  return Array.isArray(value) || isJsonObject(value)
}

/** Checks level by level, so that no depth can exhaust the stack. */
function requireDepth(value: unknown): void {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= jsonPatchLimits.depthMax) throw new OperationError('the result nests too deep')
    const next: unknown[] = []
    for (const item of level) {
      if (!isContainer(item)) continue
      for (const member of Object.values(item)) if (isContainer(member)) next.push(member)
    }
    level = next
  }
}

function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** A missing member reads as null, as in upstream's library. */
function get({ container, key }: Slot): unknown {
  if (Array.isArray(container)) return container[existingIndex(container, key)]
  return memberOf(container, key) ?? null
}

function add({ container, key }: Slot, value: unknown): void {
  if (!Array.isArray(container)) {
    setMember(container, key, value)
    return
  }
  const index = key === '-' ? container.length : indexOf(key, container.length + 1)
  container.splice(index, 0, value)
}

function remove({ container, key }: Slot): unknown {
  if (Array.isArray(container)) {
    return container.splice(existingIndex(container, key), 1)[0]
  }
  if (!Object.hasOwn(container, key))
    throw new OperationError(`Unable to remove nonexistent key: ${key}: missing value`)
  const value = container[key]
  delete container[key]
  return value
}

function existingIndex(list: readonly unknown[], key: string): number {
  return indexOf(key, list.length)
}

/** Returns an index below `count`. A negative index counts from the end. */
function indexOf(key: string, count: number): number {
  if (!/^-?[0-9]{1,9}$/.test(key)) throw new OperationError(`bad index: ${key}`)
  const index = Number(key)
  if (index >= count || index < -count) throw new OperationError(`index out of bounds: ${key}`)
  return index < 0 ? index + count : index
}
