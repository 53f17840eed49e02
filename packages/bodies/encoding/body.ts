import { StatusError, isJsonObject, type JsonObject } from '@skerry/api'
import { countMembers, findDuplicates, shapeOfJson, walkMembers } from './json-scan.ts'
import { jsonSyntaxError } from './json-syntax.ts'
import { unreadableBody, wrongJsonType } from './unreadable-body.ts'
import { parseYaml, tooDeepText, type YamlRequest } from './yaml.ts'
import { YamlError } from './yaml-error.ts'
import { bodiesBounds, bodyLimits } from '../limits-table.ts'

export interface BodyLimits {
  bytesMax: number
  /** The nesting of objects and lists in JSON. */
  depthMax: number
  /** The nesting in YAML, whose parser is recursive. */
  yamlDepthMax: number
  /** The number of YAML aliases resolved in one body, against alias bombs. */
  aliasesMax: number
  /** The number of members and commas in JSON. An object that can be stored has far fewer. */
  partsMax: number
  /** The number of listed findings. */
  duplicatesMax: number
}

export interface DecodeOptions extends Partial<BodyLimits> {
  /** True to look for duplicate fields, as fieldValidation Strict and Warn require. */
  isStrict?: boolean
  /** The expected type of the body, for messages. */
  typeName?: string
  /** True for a configuration to apply, for messages. */
  isApplied?: boolean
}

export interface DecodedBody {
  /** Any JSON value, because a JSON patch is a list. A private copy. */
  readonly value: unknown
  /** The duplicates in upstream's words, e.g. `duplicate field "spec.foo"`; only with `isStrict`. */
  readonly duplicates: readonly string[]
}

/** Invalid UTF-8 becomes U+FFFD, as upstream. A byte order mark is an ordinary character. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
/** YAML refuses invalid UTF-8. */
const strictUtf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

/**
 * Reads a request body. Throws StatusError BadRequest if it is malformed, RequestEntityTooLarge if
 * it is too long, and UnsupportedMediaType for other content types.
 */
export function decodeBody(
  bytes: Uint8Array,
  contentType: string,
  options: DecodeOptions = {},
): DecodedBody {
  const found = decodedOrYaml(bytes, contentType, options)
  if (!('text' in found)) return found
  try {
    return parseYaml(found)
  } catch (error) {
    throw refusedYaml(error, bytes, options)
  }
}

/** Reads YAML elsewhere, e.g. in a separate thread. Rejects with the YamlError of parseYaml. */
export type ReadYaml = (request: YamlRequest) => Promise<DecodedBody>

/** Does what decodeBody does, for bodies of clients: reading YAML takes far longer than reading JSON. */
export async function decodeBodyBy(
  readYaml: ReadYaml,
  bytes: Uint8Array,
  contentType: string,
  options: DecodeOptions = {},
): Promise<DecodedBody> {
  const found = decodedOrYaml(bytes, contentType, options)
  if (!('text' in found)) return found
  try {
    return await readYaml(found)
  } catch (error) {
    throw refusedYaml(error, bytes, options)
  }
}

/** Returns the value of a JSON body, or the YAML that must still be read. */
function decodedOrYaml(
  bytes: Uint8Array,
  contentType: string,
  options: DecodeOptions,
): DecodedBody | YamlRequest {
  const limits = { ...bodyLimits, ...options }
  if (bytes.length > limits.bytesMax) {
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: limit is ${limits.bytesMax}`,
    )
  }
  const format = formatOf(contentType)
  if (format === 'json') return decodeJson(bytes, limits, options)
  if (startsJson(bytes)) {
    try {
      return decodeJson(bytes, limits, options)
    } catch (error) {
      if (!isSyntaxError(error)) throw error
      if (error.cause instanceof DepthError) {
        throw unreadableYaml(new YamlError(`yaml: ${tooDeepText(limits.depthMax)}`), bytes, options)
      }
    }
  }
  try {
    return {
      text: yamlText(bytes),
      limits: yamlLimits(limits),
      isStrict: options.isStrict === true,
    }
  } catch (error) {
    throw refusedYaml(error, bytes, options)
  }
}

/** Returns these fields only, because a request may have to be sent to another thread. */
function yamlLimits(limits: BodyLimits): BodyLimits {
  const { bytesMax, depthMax, yamlDepthMax, aliasesMax, partsMax, duplicatesMax } = limits
  return { bytesMax, depthMax, yamlDepthMax, aliasesMax, partsMax, duplicatesMax }
}

class DepthError extends SyntaxError {
  override name = 'DepthError'
}

/** Returns the object in a body. Throws StatusError BadRequest if it is another value. */
export function objectOfBody(
  { value, duplicates }: DecodedBody,
  bytes: Uint8Array,
  options: DecodeOptions = {},
): { object: JsonObject; duplicates: readonly string[] } {
  if (isJsonObject(value)) return { object: value, duplicates }
  // Decoding null leaves the object as it was: empty.
  if (value === null) return { object: {}, duplicates }
  const target =
    'value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  throw unreadableBody(
    `couldn't get version/kind; json parse error: ${wrongJsonType(value, target)}`,
    { bytes, typeName: options.typeName },
  )
}

/**
 * Sorts findings of both kinds (`duplicate field "a.b"`, `unknown field "a.c"`) by the order of
 * their fields in a JSON body, as upstream's decoder reports them. Those of other bodies stay as
 * they are.
 */
export function inBodyOrder(bytes: Uint8Array, findings: readonly string[]): readonly string[] {
  if (findings.length < 2 || !startsJson(bytes)) return findings
  const wanted = new Set(findings)
  const places = new Map<string, number>()
  let charactersLeft = orderCharactersMax
  walkMembers(utf8.decode(bytes), (path, isRepeated) => {
    const finding = `${isRepeated ? 'duplicate' : 'unknown'} field "${path}"`
    if (wanted.has(finding) && !places.has(finding)) places.set(finding, places.size)
    charactersLeft -= path.length
    return places.size === wanted.size || charactersLeft < 0 ? 'stop' : undefined
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
    `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf`,
  )
}

const { orderCharactersMax } = bodiesBounds.body

/** YAML includes JSON; if the text looks like JSON, the fast parser tries it first. */
function startsJson(bytes: Uint8Array): boolean {
  let at = 0
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09)
    at += 1
  return bytes[at] === 0x7b || bytes[at] === 0x5b
}

function decodeJson(
  bytes: Uint8Array,
  limits: BodyLimits,
  { isStrict, typeName }: DecodeOptions,
): DecodedBody {
  const shape = shapeOfJson(bytes, limits.depthMax)
  if (shape.depth > limits.depthMax) {
    const cause = new DepthError(`invalid character '${shape.tooDeep}' exceeded max depth`)
    const detail = `couldn't get version/kind; json parse error: ${cause.message}`
    throw unreadableBody(detail, { bytes, typeName, cause })
  }
  if (shape.parts > limits.partsMax) {
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: limit is ${limits.partsMax} members and commas`,
    )
  }
  const text = utf8.decode(bytes)
  const value = parseJson(text, { bytes, typeName })
  if (!isStrict || countMembers(value) === shape.members) return { value, duplicates: [] }
  const paths = findDuplicates(text, limits.duplicatesMax)
  return { value, duplicates: paths.map((path) => `duplicate field "${path}"`) }
}

function refusedYaml(error: unknown, bytes: Uint8Array, options: DecodeOptions): unknown {
  return error instanceof YamlError ? unreadableYaml(error, bytes, options) : error
}

function unreadableYaml(
  cause: YamlError,
  bytes: Uint8Array,
  { isApplied, typeName }: DecodeOptions,
): StatusError {
  const detail = cause.message
  if (!isApplied) return unreadableBody(detail, { bytes, typeName, cause })
  const message = `error decoding YAML: error converting YAML to JSON: ${detail}`
  return new StatusError('BadRequest', message, { cause })
}

function yamlText(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch (error) {
    throw new YamlError('yaml: invalid UTF-8 octet', { cause: error })
  }
}

function parseJson(
  text: string,
  body: { bytes: Uint8Array; typeName: string | undefined },
): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const cause = new SyntaxError(jsonSyntaxError(text), { cause: error })
    const detail = `couldn't get version/kind; json parse error: ${cause.message}`
    throw unreadableBody(detail, { ...body, cause })
  }
}

function isSyntaxError(error: unknown): error is StatusError {
  return error instanceof StatusError && error.cause instanceof SyntaxError
}
