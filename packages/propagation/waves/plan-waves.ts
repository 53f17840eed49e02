import type { Labels } from '@skerry/api'
import type { Wave, Waves } from '@skerry/karmada-kinds'

/** A cluster of an object, with the facts that waves use. */
export interface WaveSite {
  readonly name: string
  readonly labels: Labels | undefined
  /**
   * True if it can respond now: waves do not wait for one that is unreachable, or that a person has
   * suspended.
   */
  readonly isPresent: boolean
  /** The newest is written for it. */
  readonly isCurrent: boolean
  /** It has reported that it applied the written version and is healthy. */
  readonly isWell: boolean
}

export interface WavePlan {
  readonly name: string
  /** True if its clusters get the newest version. */
  readonly isOpen: boolean
  readonly sites: readonly WaveSite[]
  /** How many present clusters have the newest version and are healthy, and how many must. */
  readonly well: number
  readonly needed: number
}

/**
 * Assigns each cluster to the first wave that covers it, and decides which waves are open. A wave opens when
 * enough clusters of those before it are healthy; a wave without present clusters holds up none. Pure. Within
 * a share of the clusters, the first by name come first.
 */
export function planWaves({ waves, healthyPercent }: Waves, all: readonly WaveSite[]): WavePlan[] {
  let left = all.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  let isOpen = true
  const plans: WavePlan[] = []
  for (const wave of waves) {
    const sites = sitesOf(wave, left, all.length)
    left = left.filter((site) => !sites.includes(site))
    const present = sites.filter((site) => site.isPresent)
    const well = present.filter((site) => site.isCurrent && site.isWell).length
    const needed = Math.ceil((present.length * healthyPercent) / 100)
    plans.push({ name: wave.name, isOpen, sites, well, needed })
    isOpen &&= well >= needed
  }
  return plans
}

/** Returns the clusters that do not get the newest version yet, with their waves. */
export function heldSites(plans: readonly WavePlan[]): ReadonlyMap<string, string> {
  const held = plans.filter(({ isOpen }) => !isOpen)
  return new Map(held.flatMap(({ name, sites }) => sites.map((site) => [site.name, name])))
}

function sitesOf(wave: Wave, left: readonly WaveSite[], total: number): readonly WaveSite[] {
  const { selector, percent } = wave
  if (selector !== undefined) return left.filter(({ labels }) => selector.matches(labels))
  if (percent === undefined) return left
  const before = total - left.length
  return left.slice(0, Math.max(0, Math.ceil((total * percent) / 100) - before))
}
