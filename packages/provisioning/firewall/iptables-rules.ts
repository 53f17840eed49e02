import {
  both,
  inverted,
  type Chain,
  type Fit,
  type Probe,
  type Rule,
  type RuleSet,
  type Verdict,
} from './packet-fate.ts'

/** Reads the lines of `iptables -S`: the table filter. */
export function iptablesRules(lines: readonly string[]): RuleSet {
  const rules = new Map<string, Rule[]>()
  const policies = new Map<string, string>()
  for (const line of lines) {
    const [verb, chain = '', ...rest] = wordsOf(line)
    const list = rules.get(chain) ?? []
    if (verb === '-P' || verb === '-N' || verb === '-A') rules.set(chain, list)
    if (verb === '-P') policies.set(chain, rest[0] ?? '')
    if (verb === '-A') list.push(ruleOf(rest))
  }
  const chains = [...rules].map(([name, list]): [string, Chain] => {
    const dropsRest = policies.get(name) === 'DROP'
    return [name, name === 'INPUT' ? { rules: list, entry: { dropsRest } } : { rules: list }]
  })
  return { name: 'iptables', chains: new Map(chains) }
}

/** Splits at spaces that no quotation marks enclose. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
}

function ruleOf(words: readonly string[]): Rule {
  const at = words.findIndex((word) => word === '-j' || word === '-g')
  const conditions = conditionsOf(at === -1 ? words : words.slice(0, at))
  return {
    verdict: at === -1 ? { type: 'none' } : verdictOf(words[at + 1] ?? '', words[at] === '-g'),
    fits: (probe) =>
      conditions.reduce<Fit>((fit, condition) => both(fit, condition(probe)), 'always'),
  }
}

const passing = new Set(['LOG', 'NFLOG', 'ULOG', 'MARK', 'CONNMARK', 'TRACE', 'SET', 'NFQUEUE'])

function verdictOf(target: string, isGoto: boolean): Verdict {
  if (target === 'ACCEPT') return { type: 'accept' }
  if (target === 'DROP' || target === 'REJECT') return { type: 'drop' }
  if (target === 'RETURN') return { type: 'return' }
  if (passing.has(target)) return { type: 'none' }
  return { type: isGoto ? 'goto' : 'jump', chain: target }
}

type Condition = (probe: Probe) => Fit

function conditionsOf(words: readonly string[]): Condition[] {
  const conditions: Condition[] = []
  let isNot = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '!') {
      isNot = true
      continue
    }
    const value = words[at + 1] ?? ''
    const condition = readers[word]?.(value) ?? (() => 'maybe' as const)
    conditions.push(isNot ? (probe) => inverted(condition(probe)) : condition)
    isNot = false
    // A word that begins with a dash, or a mark of negation, belongs to the next condition.
    if (value !== '' && !value.startsWith('-') && value !== '!') at += 1
  }
  return conditions
}

const always: Condition = () => 'always'

/** The conditions that are understood; each gets the word behind its name. */
const readers: Readonly<Record<string, (value: string) => Condition>> = {
  // A module matches nothing by itself; its options do.
  '-m': () => always,
  '--comment': () => always,
  '-p': (value) => (probe) => (value === 'all' || value === probe.protocol ? 'always' : 'never'),
  '--dport': portsReader,
  '--dports': portsReader,
  '-i': (value) => () => (value === 'lo' ? 'never' : 'maybe'),
  '--ctstate': stateReader,
  '--state': stateReader,
  '--ctstatus': () => () => 'never',
  '--dst-type': (value) => () => (value === 'LOCAL' ? 'always' : 'never'),
}

function portsReader(value: string): Condition {
  const ranges = value.split(',').map((part) => {
    const [first = '', last = first] = part.split(':')
    return { first: Number(first), last: Number(last) }
  })
  return ({ port }) =>
    ranges.some(({ first, last }) => first <= port && port <= last) ? 'always' : 'never'
}

/** A probe is a new connection. */
function stateReader(value: string): Condition {
  return () => (value.split(',').includes('NEW') ? 'always' : 'never')
}
