import { provisioningBounds } from '../limits-table.ts'

const { chainDepthMax, rulesMax } = provisioningBounds.preflight

/** A connection from another machine that must get in. */
export interface Probe {
  readonly protocol: 'tcp' | 'udp'
  readonly port: number
}

/** Whether a rule is for a probe: a rule that looks at what is not known, such as the sender, may be. */
export type Fit = 'always' | 'maybe' | 'never'

export type Verdict =
  | { readonly type: 'accept' | 'drop' | 'return' | 'none' }
  | { readonly type: 'jump' | 'goto'; readonly chain: string }

export interface Rule {
  readonly verdict: Verdict
  readonly fits: (probe: Probe) => Fit
}

export interface Chain {
  readonly rules: readonly Rule[]
  /** For a chain in which packets to this machine begin: whether those that no rule decides are dropped. */
  readonly entry?: { readonly dropsRest: boolean }
}

/** Chains by name that may jump to each other, such as those of one table. */
export interface RuleSet {
  readonly name: string
  readonly chains: ReadonlyMap<string, Chain>
}

type Fate = 'accept' | 'drop' | undefined

/**
 * Returns the names of the rule sets that certainly drop a probe. Whatever depends on the sender or on anything else
 * that is not known here counts in favour of the machine.
 */
export function droppedBy(ruleSets: readonly RuleSet[], probe: Probe): string[] {
  return ruleSets.filter((each) => isDropped(each, probe)).map(({ name }) => name)
}

function isDropped({ chains }: RuleSet, probe: Probe): boolean {
  const judge = new Judge(chains, probe)
  return [...chains].some(([name, { entry }]) => {
    if (entry === undefined) return false
    const fate = judge.fateIn(name, 0)
    return fate === undefined ? entry.dropsRest : fate === 'drop'
  })
}

/** Follows one probe through chains: so many rules in all, because entries are many and jumps multiply them. */
class Judge {
  readonly #chains: ReadonlyMap<string, Chain>
  readonly #probe: Probe
  #seen = 0

  constructor(chains: ReadonlyMap<string, Chain>, probe: Probe) {
    this.#chains = chains
    this.#probe = probe
  }

  fateIn(name: string, depth: number): Fate {
    if (depth > chainDepthMax) return 'accept'
    for (const { fits, verdict } of this.#chains.get(name)?.rules ?? []) {
      this.#seen += 1
      if (this.#seen > rulesMax) return 'accept'
      const fit = fits(this.#probe)
      if (fit === 'never' || verdict.type === 'none') continue
      if (verdict.type === 'accept') return 'accept'
      if (verdict.type === 'jump' || verdict.type === 'goto') {
        const fate = this.fateIn(verdict.chain, depth + 1)
        if (fate === 'accept' || (fate === 'drop' && fit === 'always')) return fate
        if (verdict.type === 'goto' && fit === 'always') return undefined
        continue
      }
      if (fit === 'maybe') continue
      return verdict.type === 'drop' ? 'drop' : undefined
    }
    return undefined
  }
}

/** Returns the fit of a rule that demands both. */
export function both(a: Fit, b: Fit): Fit {
  if (a === 'never' || b === 'never') return 'never'
  return a === 'maybe' || b === 'maybe' ? 'maybe' : 'always'
}

export function inverted(fit: Fit): Fit {
  if (fit === 'maybe') return fit
  return fit === 'always' ? 'never' : 'always'
}
