import { serviceProxyBounds } from '../limits-table.ts'

/**
 * One nftables table as data, and the script that turns one state of it into another. The change of
 * one endpoint costs a few elements, not the table. Affinity sets keep the elements that the kernel
 * added.
 */
export interface NftTable {
  readonly name: string
  /** The sets and maps. Those without elements of ours (dynamic sets) are declared here, too. */
  readonly sets: ReadonlyMap<string, NftSet>
  readonly chains: ReadonlyMap<string, NftChain>
}

export interface NftSet {
  readonly type: 'set' | 'map'
  /** The text between the braces of the declaration. */
  readonly declaration: string
  /** Maps keys to data; the data is an empty text in a plain set. If omitted, the kernel fills the set. */
  readonly elements?: ReadonlyMap<string, string>
}

export interface NftChain {
  /** `type nat hook prerouting priority dstnat; policy accept;` for base chains. */
  readonly hook?: string
  readonly rules: readonly string[]
}

/** Replaces the whole table in one transaction. */
export function renderTable(table: NftTable): string {
  const lines = [
    `add table ip ${table.name}`,
    `delete table ip ${table.name}`,
    `add table ip ${table.name}`,
  ]
  const empty: NftTable = { name: table.name, sets: new Map(), chains: new Map() }
  return [...lines, ...deltaLines(empty, table)].join('\n') + '\n'
}

/**
 * Returns the change from `old`, which is in the kernel, to `next`, in one transaction. Returns an
 * empty text if they are equal.
 */
export function renderDelta(old: NftTable, next: NftTable): string {
  const lines = deltaLines(old, next)
  return lines.length === 0 ? '' : lines.join('\n') + '\n'
}

/** Returns true if the tables differ in elements at most. */
export function hasSameRules(a: NftTable, b: NftTable): boolean {
  const isSameSet = ([name, { declaration }]: [string, NftSet]): boolean =>
    a.sets.get(name)?.declaration === declaration
  const isSameChain = ([name, chain]: [string, NftChain]): boolean => {
    const other = a.chains.get(name)
    return other !== undefined && isSameList(other.rules, chain.rules)
  }
  return (
    a.sets.size === b.sets.size &&
    a.chains.size === b.chains.size &&
    [...b.sets].every(isSameSet) &&
    [...b.chains].every(isSameChain)
  )
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, at) => each === b[at])
}

const { elementsPerCommandMax } = serviceProxyBounds.nftTable

function deltaLines(old: NftTable, next: NftTable): string[] {
  const lines: string[] = []
  for (const [name, set] of next.sets) {
    if (!old.sets.has(name))
      lines.push(`add ${set.type} ip ${next.name} ${name} { ${set.declaration} }`)
  }
  for (const [name, chain] of next.chains) {
    if (!old.chains.has(name)) {
      lines.push(
        `add chain ip ${next.name} ${name}${chain.hook === undefined ? '' : ` { ${chain.hook} }`}`,
      )
    }
  }
  lines.push(...ruleLines(old, next))
  // Removed elements come first: a verdict that names a chain must be removed before that chain.
  for (const [name, set] of next.sets)
    lines.push(...elementLines(next.name, name, { old: old.sets.get(name), next: set }))
  for (const name of old.chains.keys()) {
    if (!next.chains.has(name)) lines.push(`flush chain ip ${next.name} ${name}`)
  }
  for (const name of old.chains.keys()) {
    if (!next.chains.has(name)) lines.push(`delete chain ip ${next.name} ${name}`)
  }
  for (const [name, set] of old.sets) {
    if (!next.sets.has(name)) lines.push(`delete ${set.type} ip ${next.name} ${name}`)
  }
  return lines
}

function ruleLines(old: NftTable, next: NftTable): string[] {
  const lines: string[] = []
  for (const [name, chain] of next.chains) {
    const before = old.chains.get(name)
    if (before !== undefined) {
      if (before.rules.join('\n') === chain.rules.join('\n')) continue
      lines.push(`flush chain ip ${next.name} ${name}`)
    }
    for (const rule of chain.rules) lines.push(`add rule ip ${next.name} ${name} ${rule}`)
  }
  return lines
}

function elementLines(
  table: string,
  name: string,
  change: { old: NftSet | undefined; next: NftSet },
): string[] {
  const before = change.old?.elements ?? new Map<string, string>()
  const after = change.next.elements ?? new Map<string, string>()
  const gone: string[] = []
  const added: string[] = []
  for (const [key, data] of before) {
    if (after.get(key) !== data) gone.push(key)
  }
  for (const [key, data] of after) {
    if (before.get(key) !== data) added.push(data === '' ? key : `${key} : ${data}`)
  }
  return [
    ...inBatches(gone).map((batch) => `delete element ip ${table} ${name} { ${batch.join(', ')} }`),
    ...inBatches(added).map((batch) => `add element ip ${table} ${name} { ${batch.join(', ')} }`),
  ]
}

function inBatches(items: readonly string[]): string[][] {
  const batches: string[][] = []
  for (let start = 0; start < items.length; start += elementsPerCommandMax) {
    batches.push(items.slice(start, start + elementsPerCommandMax))
  }
  return batches
}
