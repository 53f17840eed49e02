import { isJsonObject } from '@skerry/api'
import { provisioningBounds } from '../limits-table.ts'
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

/**
 * Reads the answer of `nft -j list ruleset`: the tables for IPv4. Tables that iptables keeps are left out, because
 * nft does not show their conditions. Any other text has no rules.
 */
export function nftRules(text: string): RuleSet[] {
  const items = itemsOf(text)
  const tables: Tables = new Map()
  const foreign = new Set<string>()
  for (const item of items) {
    const { chain, rule } = item
    if (isJsonObject(chain)) addChain(tables, chain)
    if (isJsonObject(rule)) {
      if (usesIptables(rule)) foreign.add(tableOf(rule))
      addRule(tables, rule)
    }
  }
  return [...tables]
    .filter(([name]) => /^(ip|inet) /.test(name) && !foreign.has(name))
    .map(([name, chains]) => ({ name: `table ${name}`, chains }))
}

interface OpenChain extends Chain {
  readonly rules: Rule[]
}

type Tables = Map<string, Map<string, OpenChain>>

type Json = Readonly<Record<string, unknown>>

function itemsOf(text: string): Json[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // It was cut because it is long, or the machine has another program of that name.
    return []
  }
  const list = isJsonObject(parsed) ? parsed['nftables'] : undefined
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

function tableOf({ family, table }: Json): string {
  return `${String(family)} ${String(table)}`
}

function addChain(tables: Tables, chain: Json): void {
  const chains = tables.get(tableOf(chain)) ?? new Map<string, OpenChain>()
  tables.set(tableOf(chain), chains)
  const isEntry = chain['hook'] === 'input' && chain['type'] === 'filter'
  const entry = { dropsRest: chain['policy'] === 'drop' }
  chains.set(String(chain['name']), { rules: [], ...(isEntry ? { entry } : {}) })
}

function addRule(tables: Tables, rule: Json): void {
  const chain = tables.get(tableOf(rule))?.get(String(rule['chain']))
  for (const each of rulesOf(expressionsOf(rule))) chain?.rules.push(each)
}

function expressionsOf({ expr }: Json): Json[] {
  return Array.isArray(expr) ? expr.filter(isJsonObject) : []
}

function usesIptables(rule: Json): boolean {
  return expressionsOf(rule).some((each) => 'xt' in each)
}

const { setDepthMax } = provisioningBounds.preflight

type Condition = (probe: Probe) => Fit

const neutral = new Set(['counter', 'log', 'comment', 'notrack'])

/** Returns a rule for each verdict: a map has several. */
function rulesOf(expressions: readonly Json[]): Rule[] {
  const conditions: Condition[] = []
  for (const expression of expressions) {
    const [kind = '', value] = Object.entries(expression)[0] ?? []
    const verdict = verdictOf(kind, value)
    if (verdict !== undefined) return [{ verdict, fits: allOf(conditions) }]
    if (kind === 'vmap' && isJsonObject(value)) return mappedRules(value, conditions)
    if (kind === 'match' && isJsonObject(value)) conditions.push(matchOf(value))
    else if (!neutral.has(kind)) conditions.push(() => 'maybe')
  }
  return []
}

function allOf(conditions: readonly Condition[]): Condition {
  return (probe) =>
    conditions.reduce<Fit>((fit, condition) => both(fit, condition(probe)), 'always')
}

function verdictOf(kind: string, value: unknown): Verdict | undefined {
  if (kind === 'accept' || kind === 'drop' || kind === 'return') return { type: kind }
  if (kind === 'reject') return { type: 'drop' }
  if ((kind === 'jump' || kind === 'goto') && isJsonObject(value)) {
    return { type: kind, chain: String(value['target']) }
  }
  return undefined
}

/** Returns a rule for each pair of a verdict map that is written out. */
function mappedRules({ key, data }: Json, conditions: readonly Condition[]): Rule[] {
  const set = isJsonObject(data) ? data['set'] : undefined
  if (!Array.isArray(set)) return []
  return set.flatMap((pair: unknown) => {
    if (!Array.isArray(pair) || !isJsonObject(pair[1])) return []
    const [kind = '', value] = Object.entries(pair[1])[0] ?? []
    const verdict = verdictOf(kind, value)
    const match = matchOf({ op: '==', left: key, right: pair[0] })
    return verdict === undefined ? [] : [{ verdict, fits: allOf([...conditions, match]) }]
  })
}

/** Returns the condition of one comparison. A comparison that is not understood counts as one that may fit. */
function matchOf({ op, left, right }: Json): Condition {
  const fit = (probe: Probe): Fit => (isJsonObject(left) ? fitOf(left, right, probe) : 'maybe')
  return op === '!=' ? (probe) => inverted(fit(probe)) : fit
}

function fitOf(left: Json, right: unknown, probe: Probe): Fit {
  const { payload, meta, ct, fib } = left
  if (isJsonObject(payload)) return payloadFit(payload, right, probe)
  if (isJsonObject(meta)) {
    if (meta['key'] === 'l4proto') return isIn(right, probe.protocol)
    const isLink = meta['key'] === 'iifname' || meta['key'] === 'iif'
    return isLink && isIn(right, 'lo') === 'always' ? 'never' : 'maybe'
  }
  // A probe is a new connection, to this machine, that nothing has diverted.
  if (isJsonObject(ct)) {
    if (ct['key'] === 'state') return isIn(right, 'new')
    return ct['key'] === 'status' ? 'never' : 'maybe'
  }
  return isJsonObject(fib) && fib['result'] === 'type' ? isIn(right, 'local') : 'maybe'
}

function payloadFit({ protocol, field }: Json, right: unknown, probe: Probe): Fit {
  if (protocol === 'ip') return field === 'protocol' ? isIn(right, probe.protocol) : 'maybe'
  if (protocol !== 'th' && protocol !== probe.protocol) return 'never'
  return field === 'dport' ? isIn(right, probe.port) : 'maybe'
}

/** Returns whether a value is one of those on the right side: a value, a range, a list, or a set. */
function isIn(right: unknown, value: string | number, depth = 0): Fit {
  if (depth > setDepthMax || (typeof right === 'string' && right.startsWith('@'))) return 'maybe'
  if (Array.isArray(right)) return anyOf(right.map((each) => isIn(each, value, depth + 1)))
  if (isJsonObject(right)) {
    const { set, range } = right
    if (Array.isArray(set)) return isIn(set, value, depth + 1)
    const [first, last] = Array.isArray(range) ? range : []
    if (typeof first !== 'number' || typeof last !== 'number') return 'maybe'
    return typeof value === 'number' && first <= value && value <= last ? 'always' : 'never'
  }
  return right === value ? 'always' : 'never'
}

function anyOf(fits: readonly Fit[]): Fit {
  if (fits.includes('always')) return 'always'
  return fits.includes('maybe') ? 'maybe' : 'never'
}
