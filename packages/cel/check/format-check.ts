import type { CelType } from '../language/cel-type.ts'
import type { CallExpr, Expr } from '../syntax/expr.ts'
import type { Problem } from '../syntax/source.ts'

interface ClauseRule {
  readonly takes: ReadonlySet<CelType['kind']>
  /** The sentence of the error that names the accepted types. */
  readonly accepts: string
}

const integers = ['int', 'uint'] as const
const shownKinds = [
  ...integers,
  'string',
  'bool',
  'bytes',
  'double',
  'map',
  'list',
  'type',
  'duration',
  'timestamp',
  'null',
] as const

const hex = rule(
  [...integers, 'string', 'bytes'],
  'only integers, byte buffers, and strings can be formatted as hex',
)

const rules: Readonly<Record<string, ClauseRule>> = Object.freeze({
  s: rule(
    shownKinds,
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  ),
  d: rule(integers, 'decimal clause can only be used on integers'),
  x: hex,
  X: hex,
  o: rule(integers, 'octal clause can only be used on integers'),
  b: rule([...integers, 'bool'], 'only integers and bools can be formatted as binary'),
  f: rule(['double', 'string'], 'fixed-point clause can only be used on doubles'),
  e: rule(['double', 'string'], 'scientific clause can only be used on doubles'),
})

function rule(takes: readonly CelType['kind'][], accepts: string): ClauseRule {
  return { takes: new Set([...takes, 'dyn', 'error', 'parameter']), accepts }
}

/**
 * Returns the first reason why a call of format() fails for any input; undefined if it may succeed. Only a pattern and
 * a list that are written as literals are checked.
 */
export function formatProblem(
  { at, name, target, args: [list] }: CallExpr,
  typeOf: (expr: Expr) => CelType | undefined,
): Problem | undefined {
  if (name !== 'format' || target?.kind !== 'literal' || list?.kind !== 'list') return undefined
  if (typeof target.value !== 'string') return undefined
  let used = 0
  for (const clause of clausesOf(target.value)) {
    if ('problem' in clause) return { at, message: clause.problem }
    const argument = list.elements[used]
    if (argument === undefined) return { at, message: `index ${used} out of range` }
    const message = refusal(clause.letter, typeOf(argument))
    if (message !== undefined) return { at: argument.at, message }
    used += 1
  }
  if (used === list.elements.length) return undefined
  const counts = `(expected ${used}, got ${list.elements.length})`
  return { at, message: `too many arguments supplied to string.format ${counts}` }
}

type FormatClause = { readonly letter: string } | { readonly problem: string }

function* clausesOf(pattern: string): Generator<FormatClause> {
  for (let at = pattern.indexOf('%'); at !== -1; at = pattern.indexOf('%', at + 1)) {
    at += 1
    if (at >= pattern.length) yield { problem: 'unexpected end of string' }
    if (pattern[at] === '%') continue
    if (pattern[at] === '.') {
      const [digits = ''] = /^\d*/.exec(pattern.slice(at + 1)) ?? []
      at += 1 + digits.length
      if (at >= pattern.length) {
        yield { problem: precisionProblem('could not find end of precision specifier') }
      }
      if (digits === '') {
        const reason = 'strconv.Atoi: parsing "": invalid syntax'
        yield {
          problem: precisionProblem(`error while converting precision to integer: ${reason}`),
        }
      }
    }
    const letter = String.fromCodePoint(pattern.codePointAt(at) ?? 0)
    if (Object.hasOwn(rules, letter)) yield { letter }
    else {
      const reason = `unrecognized formatting clause "${letter}"`
      yield { problem: `could not parse formatting clause: ${reason}` }
    }
  }
}

function precisionProblem(reason: string): string {
  return `could not parse formatting clause: error while parsing precision: ${reason}`
}

function refusal(letter: string, type: CelType | undefined): string | undefined {
  const found = rules[letter]
  if (found === undefined || type === undefined || found.takes.has(type.kind)) return undefined
  return `error during formatting: ${found.accepts}, was given ${givenName(type)}`
}

const longNames: Readonly<Record<string, string>> = Object.freeze({
  null: 'null_type',
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
})

function givenName(type: CelType): string {
  if (type.kind === 'object' || type.kind === 'opaque') return type.name
  return longNames[type.kind] ?? type.kind
}
