import { LineCounter, isScalar, parseDocument, visit, type Document, type Scalar } from 'yaml'
import { setMember, type JsonObject } from '@skerry/api'
import type { BodyLimits, DecodedBody } from './body.ts'
import { YamlError } from './yaml-error.ts'
import { settleKeys } from './yaml-keys.ts'
import { notBase64, tagsOf } from './yaml-tags.ts'

/** A request of plain data, so that it can be sent to another thread. */
export interface YamlRequest {
  readonly text: string
  readonly limits: BodyLimits
  /** True to look for duplicate keys. */
  readonly isStrict: boolean
}

/**
 * Parses one YAML document as upstream does: YAML 1.1's booleans and octals, dates stay strings,
 * keys become strings, and a later duplicate wins. Throws YamlError.
 */
export function parseYaml({ text, limits, isStrict }: YamlRequest): DecodedBody {
  try {
    const lines = new LineCounter()
    const document = parseDocument(text, {
      version: '1.1',
      schema: 'yaml-1.1',
      customTags: tagsOf,
      uniqueKeys: false,
      merge: true,
      logLevel: 'error',
      lineCounter: lines,
    })
    // Upstream reads the first of several documents.
    const failure = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS')
    // The composer is recursive; it detects the end of the stack, and the text is refused.
    if (failure?.code === 'RESOURCE_EXHAUSTION') throw tooDeep(limits)
    if (failure) throw failure
    refuseCycles(document)
    settleKeys(document)
    const duplicates = isStrict ? duplicateKeys(document, lines, limits.duplicatesMax) : []
    if (!text.endsWith('\n')) trimLastBlock(document)
    const value: unknown = document.toJS({ maxAliasCount: limits.aliasesMax })
    return { value: new PlainCopy(limits).copy(value, limits.yamlDepthMax), duplicates }
  } catch (error) {
    if (error instanceof YamlError) throw error
    const detail = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    throw new YamlError(`yaml: ${wordsOf(detail)}`, { cause: error })
  }
}

function tooDeep({ yamlDepthMax }: BodyLimits): RangeError {
  return new RangeError(tooDeepText(yamlDepthMax))
}

export function tooDeepText(depthMax: number): string {
  return `exceeded max depth of ${depthMax}`
}

/** Returns the parser's error, in upstream's words if these are known. */
function wordsOf(detail: string): string {
  const [, anchor] = /^Unresolved alias .*: (.+)$/.exec(detail) ?? []
  if (anchor !== undefined) return `unknown anchor '${anchor}' referenced`
  if (detail.startsWith('Merge sources must be maps')) {
    return 'map merge requires map or sequence of maps as the value'
  }
  if (detail.startsWith(notBase64)) return notBase64
  return detail
}

/** An alias refers to the last value before it that has its name; a value around the alias is a cycle. */
function refuseCycles(document: Document.Parsed): void {
  const anchored = new Map<string, unknown>()
  visit(document, {
    Value(_, node) {
      if (node.anchor !== undefined) anchored.set(node.anchor, node)
    },
    Alias(_, { source }, path) {
      const value = anchored.get(source)
      if (value !== undefined && path.some((node) => node === value)) {
        throw new RangeError(`anchor '${source}' value contains itself`)
      }
    },
  })
}

/** A block of text ends with a line end only if the body does. */
function trimLastBlock(document: Document.Parsed): void {
  let last: Scalar | undefined
  visit(document, { Scalar: (_, scalar) => void (last = scalar) })
  const isBlock = last?.type === 'BLOCK_LITERAL' || last?.type === 'BLOCK_FOLDED'
  if (isBlock && typeof last?.value === 'string') last.value = last.value.replace(/\n$/, '')
}

function duplicateKeys(
  document: Document.Parsed,
  lines: LineCounter,
  findingsMax: number,
): string[] {
  const found: string[] = []
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value) && found.length < findingsMax) {
          const { line } = lines.linePos(key.range?.[0] ?? 0)
          const name = JSON.stringify(key.value)
          found.push(`yaml: unmarshal errors:\n  line ${line}: key ${name} already set in map`)
        }
        seen.add(key.value)
      }
    },
  })
  return found
}

/** Infinities as Go prints them. */
const infinities: Readonly<Record<string, string>> = { Infinity: '+Inf', '-Infinity': '-Inf' }

/**
 * Copies a value for each of its places, because aliases repeat it. Refuses if the whole would
 * exceed the limit of a body.
 */
class PlainCopy {
  readonly #limits: BodyLimits
  #bytesLeft: number

  constructor(limits: BodyLimits) {
    this.#limits = limits
    this.#bytesLeft = limits.bytesMax
  }

  copy(value: unknown, depthLeft: number): unknown {
    this.#spend(1)
    if (typeof value === 'string') this.#spend(value.length)
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new YamlError(`json: unsupported value: ${infinities[`${value}`] ?? value}`)
    }
    if (typeof value !== 'object' || value === null) return value
    if (depthLeft === 0) throw tooDeep(this.#limits)
    if (Array.isArray(value)) return value.map((item) => this.copy(item, depthLeft - 1))
    const object: JsonObject = {}
    for (const [key, member] of Object.entries(value)) {
      this.#spend(key.length)
      setMember(object, key, this.copy(member, depthLeft - 1))
    }
    return object
  }

  #spend(bytes: number): void {
    this.#bytesLeft -= bytes
    if (this.#bytesLeft < 0) throw new RangeError('document contains excessive aliasing')
  }
}
