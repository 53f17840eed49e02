/** An address, and the nodes that may announce it. */
export interface AnnouncedAddress {
  readonly address: string
  /** The node that announces it, or undefined if none does. */
  readonly holder: string | undefined
  readonly candidates: readonly string[]
}

/**
 * Decides which node announces which address. A holder keeps its addresses while it lives and may have them; others go to
 * the living candidate with the fewest. Without a living candidate, the holder stays: it may only be out of the site's sight.
 * Pure.
 */
export function planAnnouncers(
  addresses: readonly AnnouncedAddress[],
  isAlive: (node: string) => boolean,
): Map<string, string | undefined> {
  const counts = new Map<string, number>()
  const plan = new Map<string, string | undefined>()
  const hold = (address: string, node: string): void => {
    plan.set(address, node)
    counts.set(node, (counts.get(node) ?? 0) + 1)
  }
  const moving: AnnouncedAddress[] = []
  for (const each of addresses) {
    const { address, holder, candidates } = each
    if (holder !== undefined && candidates.includes(holder) && isAlive(holder))
      hold(address, holder)
    else moving.push(each)
  }
  for (const { address, holder, candidates } of moving) {
    const living = candidates.filter(isAlive)
    const [first] = living.toSorted((a, b) => {
      const difference = (counts.get(a) ?? 0) - (counts.get(b) ?? 0)
      return difference === 0 ? (a < b ? -1 : 1) : difference
    })
    const mayStay = holder !== undefined && candidates.includes(holder)
    const next = first ?? (mayStay ? holder : candidates[0])
    if (next === undefined) plan.set(address, undefined)
    else hold(address, next)
  }
  return plan
}
