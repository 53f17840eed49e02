export const patternLimits = Object.freeze({
  /** Longer text is not matched but refused. */
  textLengthMax: 64 * 1024,
  cachedMax: 2_000,
})

const compiled = new Map<string, RegExp | undefined>()

/**
 * Does the text match a CRD's pattern? Upstream's engine runs in linear time; this one can take
 * exponential time on patterns such as `(a+)+$`, which only somebody who may write CRDs can bring
 * in. The text is bounded, which bounds common cases but not such a pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  if (text.length > patternLimits.textLengthMax) return false
  const known = compiled.has(pattern) ? compiled.get(pattern) : remember(pattern)
  // A pattern that cannot be read was refused with the CRD; an old one must not lock objects out.
  return known === undefined || known.test(text)
}

/** Undefined when the pattern is valid, else what is wrong with it. */
export function checkPattern(pattern: string): string | undefined {
  try {
    compile(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function remember(pattern: string): RegExp | undefined {
  if (compiled.size >= patternLimits.cachedMax) compiled.clear()
  const regexp = checkPattern(pattern) === undefined ? compile(pattern) : undefined
  compiled.set(pattern, regexp)
  return regexp
}

const posixClasses: Readonly<Record<string, string>> = Object.freeze({
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
})

/** Go's syntax in this engine's: inline flags, anchors, named groups, POSIX classes. */
function compile(pattern: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(pattern)
  const source = pattern
    .slice(flags?.[0].length ?? 0)
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\\[Az]/g, (anchor) => (anchor === '\\A' ? '^' : '$'))
    .replaceAll(/\[:(\w+):\]/g, (whole, name: string) => posixClasses[name] ?? whole)
  const own = [...new Set((flags?.[1] ?? '').split(''))].join('')
  try {
    return new RegExp(source, `u${own}`)
  } catch (error) {
    // Unicode mode refuses escapes that Go allows, such as `\-`.
    if (error instanceof SyntaxError) return new RegExp(source, own)
    throw error
  }
}
