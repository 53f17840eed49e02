import type { LuaRun } from './lua-run.ts'
import type { LuaValue } from './lua-value.ts'
import { elementBytes, luaBounds } from './limits-table.ts'

interface Capture {
  readonly start: number
  /** The end of the capture, or undefined while it is open. */
  readonly end: number | undefined
  /** True for `()`, which captures its position. */
  readonly isPosition: boolean
}

export interface LuaMatch {
  readonly start: number
  readonly end: number
  /** At least one capture: the whole match if the pattern captures nothing. */
  readonly captures: readonly LuaValue[]
}

const { capturesMax, recursionMax } = luaBounds.luaPattern

/**
 * Finds the first match at or after a position (section 5.4.1 of the manual). Returns undefined if
 * there is none. Throws a LuaError for a malformed pattern. Each comparison is a step of the run.
 */
export function findPattern(
  { text, pattern }: { text: string; pattern: string },
  from: number,
  run: LuaRun,
): LuaMatch | undefined {
  const isAnchored = pattern.startsWith('^')
  for (let start = from; start <= text.length; start += 1) {
    const matcher = new Matcher(text, pattern, run)
    const end = matcher.match(start, isAnchored ? 1 : 0)
    if (end !== undefined) {
      const captures = matcher.captured()
      const whole = text.slice(start, end)
      run.step(captures.length)
      run.spend(elementBytes * (1 + captures.length))
      return { start, end, captures: captures.length > 0 ? captures : [whole] }
    }
    if (isAnchored) return undefined
  }
  return undefined
}

class Matcher {
  readonly #text: string
  readonly #pattern: string
  readonly #run: LuaRun
  #captures: Capture[] = []
  #depth = 0

  constructor(text: string, pattern: string, run: LuaRun) {
    this.#text = text
    this.#pattern = pattern
    this.#run = run
  }

  captured(): LuaValue[] {
    return this.#captures.map(({ start, end, isPosition }) => {
      if (isPosition) return start + 1
      if (end === undefined) throw this.#run.error('unfinished capture')
      return this.#text.slice(start, end)
    })
  }

  /** Returns the end of the match of the rest of the pattern. */
  match(at: number, rule: number): number | undefined {
    this.#depth += 1
    if (this.#depth > recursionMax) throw this.#run.error('pattern too complex')
    const end = this.#matchRest(at, rule)
    this.#depth -= 1
    return end
  }

  #matchRest(from: number, start: number): number | undefined {
    let [at, rule] = [from, start]
    for (;;) {
      this.#run.step()
      const char = this.#pattern[rule]
      if (char === undefined) return at
      if (char === '(') return this.#open(at, rule)
      if (char === ')') return this.#close(at, rule + 1)
      if (char === '$' && rule + 1 === this.#pattern.length) {
        return at === this.#text.length ? at : undefined
      }
      const special = char === '%' ? this.#special(at, rule) : 'none'
      if (special === undefined) return undefined
      if (special !== 'none') {
        ;[at, rule] = special
        continue
      }
      const next = this.#ruleEnd(rule)
      const repeat = this.#pattern[next] ?? ''
      if (repeat !== '' && '*+-?'.includes(repeat)) return this.#repeat(at, [rule, next], repeat)
      if (!this.#fits(at, rule, next)) return undefined
      ;[at, rule] = [at + 1, next]
    }
  }

  /** Handles `%b()`, and `%1`, which matches an earlier capture. */
  #special(at: number, rule: number): [at: number, rule: number] | 'none' | undefined {
    const kind = this.#pattern[rule + 1] ?? ''
    if (kind === 'b') {
      const end = this.#balanced(at, rule + 2)
      return end === undefined ? undefined : [end, rule + 4]
    }
    if (!/[0-9]/.test(kind)) return 'none'
    const capture = this.#captures[Number(kind) - 1]
    if (capture?.end === undefined) throw this.#run.error('invalid capture index')
    const wanted = this.#text.slice(capture.start, capture.end)
    this.#run.step(wanted.length)
    return this.#text.startsWith(wanted, at) ? [at + wanted.length, rule + 2] : undefined
  }

  #balanced(at: number, rule: number): number | undefined {
    const [open, close] = [this.#pattern[rule], this.#pattern[rule + 1]]
    if (open === undefined || close === undefined) {
      throw this.#run.error("malformed pattern (missing arguments to '%b')")
    }
    if (this.#text[at] !== open) return undefined
    let depth = 1
    for (let index = at + 1; index < this.#text.length; index += 1) {
      this.#run.step()
      if (this.#text[index] === close) depth -= 1
      else if (this.#text[index] === open) depth += 1
      if (depth === 0) return index + 1
    }
    return undefined
  }

  #open(at: number, rule: number): number | undefined {
    const isPosition = this.#pattern[rule + 1] === ')'
    if (this.#captures.length >= capturesMax) throw this.#run.error('too many captures')
    const before = this.#captures
    this.#captures = [...before, { start: at, end: isPosition ? at : undefined, isPosition }]
    const end = this.match(at, rule + (isPosition ? 2 : 1))
    if (end === undefined) this.#captures = before
    return end
  }

  #close(at: number, rule: number): number | undefined {
    const index = this.#captures.findLastIndex(({ end }) => end === undefined)
    const capture = this.#captures[index]
    if (capture === undefined) throw this.#run.error('invalid pattern capture')
    const before = this.#captures
    this.#captures = before.with(index, { ...capture, end: at })
    const end = this.match(at, rule)
    if (end === undefined) this.#captures = before
    return end
  }

  #repeat(at: number, [rule, next]: [number, number], repeat: string): number | undefined {
    if (repeat === '?') {
      const taken = this.#fits(at, rule, next) ? this.match(at + 1, next + 1) : undefined
      return taken ?? this.match(at, next + 1)
    }
    if (repeat === '-') {
      for (let index = at; ; index += 1) {
        const end = this.match(index, next + 1)
        if (end !== undefined) return end
        if (!this.#fits(index, rule, next)) return undefined
      }
    }
    let most = at
    while (this.#fits(most, rule, next)) most += 1
    for (let index = most; index >= at + (repeat === '+' ? 1 : 0); index -= 1) {
      const end = this.match(index, next + 1)
      if (end !== undefined) return end
    }
    return undefined
  }

  /** Returns the position after one character, class or set. */
  #ruleEnd(rule: number): number {
    const char = this.#pattern[rule]
    if (char === '%') {
      if (this.#pattern[rule + 1] === undefined) {
        throw this.#run.error("malformed pattern (ends with '%')")
      }
      return rule + 2
    }
    if (char !== '[') return rule + 1
    let at = rule + 1
    if (this.#pattern[at] === '^') at += 1
    // A bracket that comes first belongs to the set.
    for (let isFirst = true; isFirst || this.#pattern[at] !== ']'; isFirst = false) {
      if (this.#pattern[at] === undefined) {
        throw this.#run.error("malformed pattern (missing ']')")
      }
      this.#run.step()
      at += this.#pattern[at] === '%' ? 2 : 1
    }
    return at + 1
  }

  #fits(at: number, rule: number, next: number): boolean {
    this.#run.step()
    const char = this.#text[at]
    if (char === undefined) return false
    const first = this.#pattern[rule]
    if (first === '.') return true
    if (first === '%') return isOfClass(char, this.#pattern[rule + 1] ?? '')
    if (first === '[') return this.#isInSet(char, this.#pattern.slice(rule + 1, next - 1))
    return first === char
  }

  #isInSet(char: string, inside: string): boolean {
    const isNegated = inside.startsWith('^')
    const set = isNegated ? inside.slice(1) : inside
    this.#run.step(set.length)
    for (let at = 0; at < set.length; at += 1) {
      const first = set[at] ?? ''
      const last = set[at + 2]
      if (first === '%') {
        at += 1
        if (isOfClass(char, set[at] ?? '')) return !isNegated
      } else if (set[at + 1] === '-' && last !== undefined) {
        if (first <= char && char <= last) return !isNegated
        at += 2
      } else if (first === char) {
        return !isNegated
      }
    }
    return isNegated
  }
}

const classes: Readonly<Record<string, RegExp>> = Object.freeze({
  a: /[A-Za-z]/,
  // oxlint-disable-next-line no-control-regex -- they are what the class is of
  c: /[\0-\u001f\u007f]/,
  d: /[0-9]/,
  l: /[a-z]/,
  p: /[!-/:-@[-`{-~]/,
  s: /[ \t-\r]/,
  u: /[A-Z]/,
  w: /[A-Za-z0-9]/,
  x: /[0-9A-Fa-f]/,
  z: /\0/,
})

/** An upper-case class is the complement of the class; any other character stands for itself. */
function isOfClass(char: string, name: string): boolean {
  const found = classes[name.toLowerCase()]
  if (found === undefined) return char === name
  return found.test(char) === (name === name.toLowerCase())
}
