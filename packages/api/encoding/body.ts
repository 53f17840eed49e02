import { isJsonObject, type JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'
import { countMembers, findDuplicates, shapeOfJson, walkMembers } from './json-scan.ts'
import { parseYaml } from './yaml.ts'

export interface BodyLimits {
  bytesMax: number
  /** Nesting of objects and lists. */
  depthMax: number
  /** How often YAML aliases may be followed in one body; guards against alias bombs. */
  aliasesMax: number
  /** Findings beyond this are not listed. */
  duplicatesMax: number
}

export const bodyLimits: Readonly<BodyLimits> = Object.freeze({
  bytesMax: 3 * 1024 * 1024,
  depthMax: 500,
  aliasesMax: 100,
  duplicatesMax: 100,
})

export interface DecodeOptions extends Partial<BodyLimits> {
  /** Look for duplicate fields, as fieldValidation Strict and Warn ask. */
  isStrict?: boolean
}

export interface DecodedBody {
  /** Any JSON value: a JSON patch is a list. A private copy. */
  readonly value: unknown
  /** In upstream's words, e.g. `duplicate field "spec.foo"`; empty unless asked for. */
  readonly duplicates: readonly string[]
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a request body. Throws StatusError BadRequest when it is malformed,
 * RequestEntityTooLarge when it is too long, UnsupportedMediaType for other content types.
 */
export function decodeBody(
  bytes: Uint8Array,
  contentType: string,
  options: DecodeOptions = {},
): DecodedBody {
  const limits = { ...bodyLimits, ...options }
  if (bytes.length > limits.bytesMax) {
    throw new StatusError('RequestEntityTooLarge', `limit is ${limits.bytesMax}`)
  }
  const format = formatOf(contentType)
  if (format === 'json' || startsJson(bytes)) {
    try {
      return decodeJson(bytes, limits, options.isStrict === true)
    } catch (error) {
      if (format === 'json' || !isSyntaxError(error)) throw error
    }
  }
  return parseYaml(decodeUtf8(bytes), limits, options.isStrict === true)
}

/** As decodeBody, for bodies that must be an object. */
export function decodeObjectBody(
  bytes: Uint8Array,
  contentType: string,
  options: DecodeOptions = {},
): { object: JsonObject; duplicates: readonly string[] } {
  const { value, duplicates } = decodeBody(bytes, contentType, options)
  if (isJsonObject(value)) return { object: value, duplicates }
  const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
  const detail = `json: cannot unmarshal ${type === 'boolean' ? 'bool' : type} into an object`
  throw unrecognized(detail)
}

/**
 * Findings of both kinds (`duplicate field "a.b"`, `unknown field "a.c"`) in the order in which a
 * JSON body has their fields, as upstream's decoder meets them. Other bodies keep theirs.
 */
export function inBodyOrder(bytes: Uint8Array, findings: readonly string[]): readonly string[] {
  if (findings.length < 2 || !startsJson(bytes)) return findings
  const places = new Map<string, number>()
  walkMembers(decodeUtf8(bytes), (path, isRepeated) => {
    const finding = `${isRepeated ? 'duplicate' : 'unknown'} field "${path}"`
    if (!places.has(finding)) places.set(finding, places.size)
  })
  const placeOf = (finding: string): number => places.get(finding) ?? places.size
  return findings.toSorted((one, other) => placeOf(one) - placeOf(other))
}

function formatOf(contentType: string): 'json' | 'yaml' {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  if (type === '' || type.endsWith('/json') || type.endsWith('+json')) return 'json'
  if (type.endsWith('/yaml') || type.endsWith('+yaml')) return 'yaml'
  throw new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml`,
  )
}

/** YAML contains JSON; where the text looks like JSON the fast parser gets it first. */
function startsJson(bytes: Uint8Array): boolean {
  let at = 0
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09)
    at += 1
  return bytes[at] === 0x7b || bytes[at] === 0x5b
}

function decodeJson(bytes: Uint8Array, limits: BodyLimits, isStrict: boolean): DecodedBody {
  const shape = shapeOfJson(bytes)
  if (shape.depth > limits.depthMax) throw unrecognized('json: exceeded max depth')
  const text = decodeUtf8(bytes)
  const value = parseJson(text)
  if (!isStrict || countMembers(value) === shape.members) return { value, duplicates: [] }
  const paths = findDuplicates(text, limits.duplicatesMax)
  return { value, duplicates: paths.map((path) => `duplicate field "${path}"`) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    throw new StatusError('BadRequest', unrecognizedText(`json parse error: ${detail}`), {
      cause: error,
    })
  }
}

function isSyntaxError(error: unknown): boolean {
  return error instanceof StatusError && error.cause instanceof SyntaxError
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch (error) {
    throw new StatusError('BadRequest', unrecognizedText('invalid UTF-8'), { cause: error })
  }
}

function unrecognized(detail: string): StatusError {
  return new StatusError('BadRequest', unrecognizedText(detail))
}

/** What upstream says of a body that it cannot read. */
export function unrecognizedText(detail: string): string {
  return `the object provided is unrecognized: couldn't get version/kind; ${detail}`
}
