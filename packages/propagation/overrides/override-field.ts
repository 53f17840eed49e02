import { decodeBody, printYaml } from '@skerry/bodies'
import { isJsonObject, memberOf, StatusError, type AnyObject } from '@skerry/api'
import type { FieldOperation, FieldOverrider } from '@skerry/karmada-kinds'
import { escapeHtml } from './escape-html.ts'
import { patchInPlace, type OverridePatch } from './patch-document.ts'
import { propagationBounds } from '../limits-table.ts'

/**
 * Returns the patch of a field overrider: it edits a YAML or JSON document inside a field and writes it back
 * in the same language. With neither, the field becomes empty, as in Karmada. Throws Error if the field is
 * not text, or its document cannot be parsed or changed.
 */
export function fieldPatch(object: AnyObject, overrider: FieldOverrider): OverridePatch {
  const { fieldPath: path, yaml = [], json = [] } = overrider
  const text = textAtPointer(object, path)
  if (typeof text !== 'string') {
    throw new Error(`Get object's value by overrider's path(${path}) is not string`)
  }
  return { operator: 'replace', path, value: overridden(text, { yaml, json }) }
}

function overridden(
  text: string,
  { yaml, json }: { yaml: readonly FieldOperation[]; json: readonly FieldOperation[] },
): string {
  if (yaml.length > 0) return overriddenYaml(text, yaml)
  return json.length > 0 ? overriddenJson(text, json) : ''
}

function overriddenYaml(text: string, operations: readonly FieldOperation[]): string {
  return printYaml(patchInPlace(readYaml(text), operations.map(patchOf)))
}

function readYaml(text: string): unknown {
  requireQuick(text)
  try {
    const { value } = decodeBody(new TextEncoder().encode(text), 'application/yaml')
    requireExact(value)
    return value
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw new Error(`cannot read the document as YAML: ${error.message}`, { cause: error })
  }
}

/** The parts of a text that take time to parse: lines, comments, anchors, tags, and parts of a list or map in brackets. */
const marks = /[\n#&*!?,[{]/g
const { marksMax, yamlCharactersMax } = propagationBounds.overrideField

/** A tenant's text may be made to hold the hub: what could take more than a tenth of a second is not read. */
function requireQuick(text: string): void {
  const count = text.length > yamlCharactersMax ? Infinity : (text.match(marks)?.length ?? 0)
  if (count <= marksMax) return
  throw new Error(
    `cannot read the document as YAML: it has more than ${yamlCharactersMax} characters or ${marksMax} lines and marks`,
  )
}

/** Refuses a document with integers that a rewrite would change, although no rule names them. */
function requireExact(value: unknown): void {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new Error(`cannot write the document again: ${value} has more than 53 bits`)
  }
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(requireExact)
}

function overriddenJson(text: string, operations: readonly FieldOperation[]): string {
  if (text === '') return text
  return escapeHtml(JSON.stringify(patchInPlace(readJson(text), operations.map(patchOf))))
}

function readJson(text: string): unknown {
  try {
    return exactJson.parse(text, asWritten)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Error('invalid state detected', { cause: error })
  }
}

/**
 * The compiler's types lack these parts of the engine's JSON: the source text of numbers, and numbers as raw
 * text.
 */
const exactJson = JSON as unknown as {
  parse: (
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown
  rawJSON: (text: string) => unknown
}

/** Keeps `1.0`, and numbers with more digits than a number can hold, as written. */
function asWritten(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isChanged = typeof value === 'number' && source !== undefined && String(value) !== source
  return isChanged ? exactJson.rawJSON(source) : value
}

function patchOf({ subPath: path, operator, value }: FieldOperation): OverridePatch {
  return { operator, path, value }
}

/** Throws in the words of the library that Karmada looks up pointers with. */
function textAtPointer(object: AnyObject, pointer: string): unknown {
  const [root, ...tokens] = pointer.split('/')
  if (root !== '') {
    throw new Error('JSON pointer must be empty or start with a "/\nJSON pointer error')
  }
  let found: unknown = object
  for (const token of tokens) {
    found = memberAt(found, token.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  return found
}

function memberAt(value: unknown, token: string): unknown {
  const shown = JSON.stringify(token)
  if (Array.isArray(value)) {
    if (!/^[-+]?[0-9]{1,9}$/.test(token)) {
      throw pointerError(`strconv.Atoi: parsing ${shown}: invalid syntax`)
    }
    const index = Number(token)
    if (index >= 0 && index < value.length) return value[index]
    throw pointerError(`index out of bounds array[0,${value.length - 1}] index '${index}'`)
  }
  if (value === null) throw pointerError(`nil value has no field ${shown}`)
  if (!isJsonObject(value)) throw pointerError(`invalid token reference ${shown}`)
  const member = memberOf(value, token)
  if (member === undefined) throw pointerError(`object has no key ${shown}`)
  return member
}

function pointerError(why: string): Error {
  return new Error(`${why}: JSON pointer error`)
}
