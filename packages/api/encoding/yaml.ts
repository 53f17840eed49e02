import {
  LineCounter,
  isScalar,
  parseDocument,
  visit,
  type Document,
  type Scalar,
  type Tags,
} from 'yaml'
import { setMember, type JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'
import type { BodyLimits, DecodedBody } from './body.ts'

/**
 * One YAML document as upstream reads it: YAML 1.1's booleans and octals, dates stay strings, keys
 * become strings, and a later duplicate wins. Throws StatusError BadRequest.
 */
export function parseYaml(text: string, limits: BodyLimits, isStrict: boolean): DecodedBody {
  try {
    const lines = new LineCounter()
    const document = parseDocument(text, {
      version: '1.1',
      schema: 'yaml-1.1',
      customTags: withoutDates,
      uniqueKeys: false,
      merge: true,
      logLevel: 'error',
      lineCounter: lines,
    })
    // Upstream reads the first of several documents.
    const failure = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS')
    if (failure) throw failure
    const duplicates = isStrict ? duplicateKeys(document, lines, limits.duplicatesMax) : []
    if (!text.endsWith('\n')) trimLastBlock(document)
    const value: unknown = document.toJS({ maxAliasCount: limits.aliasesMax })
    return { value: new PlainCopy(limits).copy(value, limits.depthMax), duplicates }
  } catch (error) {
    const detail = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    throw new StatusError('BadRequest', `error converting YAML to JSON: yaml: ${detail}`, {
      cause: error,
    })
  }
}

const unwantedTags: ReadonlySet<string> = new Set(
  ['timestamp', 'set', 'omap', 'pairs', 'binary'].map((name) => `tag:yaml.org,2002:${name}`),
)

function withoutDates(tags: Tags): Tags {
  return tags.filter(
    (tag) =>
      typeof tag === 'string' ||
      (!unwantedTags.has(tag.tag) && !('format' in tag && tag.format === 'TIME')),
  )
}

/** A block of text ends with a line's end only where the body does. */
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

/**
 * Aliases make one value appear in many places; the copy gives each place its own and refuses when
 * the whole would grow past what a body may be.
 */
class PlainCopy {
  #bytesLeft: number

  constructor(limits: BodyLimits) {
    this.#bytesLeft = limits.bytesMax
  }

  copy(value: unknown, depthLeft: number): unknown {
    this.#spend(1)
    if (typeof value === 'string') this.#spend(value.length)
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new RangeError(`unsupported value: ${value}`)
    }
    if (typeof value !== 'object' || value === null) return value
    if (depthLeft === 0) throw new RangeError('exceeded max depth')
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
