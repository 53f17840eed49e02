import { StatusError, isJsonObject, type JsonObject } from '@skerry/api'
import { countMembers, findDuplicates, shapeOfJson, walkMembers } from './json-scan.ts'
import { jsonSyntaxError } from './json-syntax.ts'
import { unreadableBody, wrongJsonType } from './unreadable-body.ts'
import { parseYaml, tooDeepText, type YamlRequest } from './yaml.ts'
import { YamlError } from './yaml-error.ts'

export interface BodyLimits {
  bytesMax: number
  /** Nesting of objects and lists in JSON. */
  depthMax: number
  /** The same in YAML, whose reading recurses. */
  yamlDepthMax: number
  /** How often YAML aliases may be followed in one body; guards against alias bombs. */
  aliasesMax: number
  /** Members and commas of JSON; an object that can be stored has far fewer. */
  partsMax: number
  /** Findings beyond this are not listed. */
  duplicatesMax: number
}

export const bodyLimits: Readonly<BodyLimits> = Object.freeze({
  bytesMax: 3 * 1024 * 1024,
  depthMax: 10_000,
  yamlDepthMax: 500,
  aliasesMax: 100,
  partsMax: 300_000,
  duplicatesMax: 100,
})

export interface DecodeOptions extends Partial<BodyLimits> {
  /** Look for duplicate fields, as fieldValidation Strict and Warn ask. */
  isStrict?: boolean
  /** Of what the body must be, for messages. */
  typeName?: string
  /** A configuration to apply, for messages. */
  isApplied?: boolean
}

export interface DecodedBody {
  /** Any JSON value: a JSON patch is a list. A private copy. */
  readonly value: unknown
  /** In upstream's words, e.g. `duplicate field "spec.foo"`; empty unless asked for. */
  readonly duplicates: readonly string[]
}

/** Bytes that are no UTF-8 become U+FFFD, as upstream has it; a byte order mark is a character like any other. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
/** In YAML they are refused. */
const strictUtf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

/**
 * Reads a request body. Throws StatusError BadRequest when it is malformed,
 * RequestEntityTooLarge when it is too long, UnsupportedMediaType for other content types.
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

/** Reads YAML elsewhere, e.g. in a thread of its own. Rejects with YamlError as parseYaml throws it. */
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

/** Returns the value of a body of JSON, or the YAML that is still to be read. */
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

/** These alone: a request may have to be sent to another thread. */
function yamlLimits(limits: BodyLimits): BodyLimits {
  const { bytesMax, depthMax, yamlDepthMax, aliasesMax, partsMax, duplicatesMax } = limits
  return { bytesMax, depthMax, yamlDepthMax, aliasesMax, partsMax, duplicatesMax }
}

class DepthError extends SyntaxError {
  override name = 'DepthError'
}

/** As decodeBody, for bodies that must be an object. */
export function decodeObjectBody(
  bytes: Uint8Array,
  contentType: string,
  options: DecodeOptions = {},
): { object: JsonObject; duplicates: readonly string[] } {
  return objectOfBody(decodeBody(bytes, contentType, options), bytes, options)
}

/** The object that a body is. Throws StatusError BadRequest when it is another value. */
export function objectOfBody(
  { value, duplicates }: DecodedBody,
  bytes: Uint8Array,
  options: DecodeOptions = {},
): { object: JsonObject; duplicates: readonly string[] } {
  if (isJsonObject(value)) return { object: value, duplicates }
  // Decoding null leaves an object as it was: empty.
  if (value === null) return { object: {}, duplicates }
  const target =
    'value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  throw unreadableBody(
    `couldn't get version/kind; json parse error: ${wrongJsonType(value, target)}`,
    { bytes, typeName: options.typeName },
  )
}

/**
 * Findings of both kinds (`duplicate field "a.b"`, `unknown field "a.c"`) in the order in which a
 * JSON body has their fields, as upstream's decoder meets them. Other bodies keep theirs.
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

/** Of all paths that are looked at for an order: a long key stands in the path of all that is in it. */
const orderCharactersMax = 32 * 1024 * 1024

/** YAML contains JSON; where the text looks like JSON the fast parser gets it first. */
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
