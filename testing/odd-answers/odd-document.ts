import type { Random } from '@skerry/base'

/** JSON texts that replace one value of a document: other types, and edge cases of readers. */
const oddValues: readonly string[] = [
  'null',
  '7',
  '-1',
  '99',
  '600',
  '1.5',
  '1e999',
  'true',
  'false',
  '""',
  '"text"',
  '"\\u0000\\ud800"',
  '"../..\\r\\nx: y"',
  JSON.stringify('long'.repeat(16_384)),
  '[]',
  '[null]',
  '[[]]',
  '["text"]',
  '{}',
  '{"__proto__":{"name":"odd"},"constructor":null,"toString":7}',
  '{"name":null,"metadata":7}',
  `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`,
]

/** Replaces one value of any document. */
export interface OddValue {
  /** Selects the value: 0 is the first of the document, 1 is after the last. */
  readonly at: number
  /** The JSON text that replaces it. */
  readonly text: string
}

/** Draws `count` replacements. */
export function randomValues(random: Random, count: number): OddValue[] {
  return Array.from({ length: count }, () => ({
    at: random.next(),
    text: oddValues[Math.floor(random.next() * oddValues.length)] ?? 'null',
  }))
}

/** Returns the right JSON text with one value replaced. The result may hold what JSON.stringify() cannot write. */
export function withOddValue(right: string, { at, text }: OddValue): string {
  const places = placesIn(JSON.parse(right), '$')
  const place = places[Math.floor(at * places.length)] ?? '$'
  const marked = JSON.stringify(withMark(JSON.parse(right), place, '$'))
  return marked.replace(JSON.stringify(mark), () => text)
}

const mark = '@@odd@@'

/** Lists the paths of all values, including the document, its lists and its objects. */
function placesIn(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Object.entries(value).flatMap(([key, field]) => placesIn(field, `${path}.${key}`))
  return [path, ...inner]
}

function withMark(value: unknown, wanted: string, path: string): unknown {
  if (path === wanted) return mark
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(
    ([key, field]) => [key, withMark(field, wanted, `${path}.${key}`)] as const,
  )
  return Array.isArray(value) ? entries.map(([, field]) => field) : Object.fromEntries(entries)
}
