import { neighbourBounds } from './limits-table.ts'
import type { Word } from './word.ts'

const { missedMin } = neighbourBounds.verdict

export interface Verdict {
  /** `open` if neither side has a majority: Kubernetes' own rule decides. */
  readonly kind: 'seen' | 'dead' | 'open'
  /** The voters that see the node. */
  readonly seenBy: readonly string[]
  /** The voters that miss it. */
  readonly missedBy: readonly string[]
}

export interface Evidence {
  /** The nodes that vote about it. */
  readonly voters: readonly string[]
  /** Returns a node's present word; undefined if it has none, or it is too old. */
  readonly wordOf: (name: string) => Word | undefined
  /** Whether a voter is itself known to be dead, and so not missing in the count. */
  readonly isDead: (name: string) => boolean
}

/**
 * Counts the votes about a node. Pure.
 *
 * It is dead if at least two voters miss it, and they are more than half of all voters that are not dead. A voter without
 * a word counts against that, so the smaller part of a group that is split declares nobody dead. It is seen if more
 * voters see it than miss it. A voter that sees nobody at all abstains: it is probably the one that is cut off.
 */
function judge(name: string, { voters, wordOf, isDead }: Evidence): Verdict {
  const able = voters.filter((each) => each !== name && !isDead(each))
  const votes = able.flatMap((voter) => {
    const word = wordOf(voter)
    return word && word.seen.length > 0 ? [{ voter, word }] : []
  })
  const seenBy = votes.filter(({ word }) => word.seen.includes(name)).map(({ voter }) => voter)
  const missedBy = votes
    .filter(({ word }) => word.missed.includes(name) && !word.seen.includes(name))
    .map(({ voter }) => voter)
  return { kind: kindOf(seenBy.length, missedBy.length, able.length), seenBy, missedBy }
}

function kindOf(seen: number, missed: number, able: number): Verdict['kind'] {
  if (missed >= missedMin && missed * 2 > able) return 'dead'
  return seen > missed ? 'seen' : 'open'
}

/**
 * Returns the nodes that are dead. A node that was dead remains so until it is seen, so that its neighbours can die after it;
 * without it they would wait for its vote. Rounds go on until no further node is found.
 */
export function deadAmong(
  names: readonly string[],
  was: ReadonlySet<string>,
  evidenceOf: (name: string, isDead: (name: string) => boolean) => Evidence,
): ReadonlyMap<string, Verdict> {
  const dead = new Set(names.filter((name) => was.has(name)))
  const isDead = (name: string): boolean => dead.has(name)
  const verdicts = new Map<string, Verdict>()
  for (let isChanged = true; isChanged;) {
    isChanged = false
    for (const name of names) {
      const verdict = judge(name, evidenceOf(name, isDead))
      const isNew = verdict.kind === 'dead' && !dead.has(name)
      const isBack = verdict.kind === 'seen' && dead.has(name) && !verdicts.has(name)
      if (isNew) dead.add(name)
      if (isBack) dead.delete(name)
      isChanged ||= isNew || isBack
      const kind = verdict.kind === 'open' && dead.has(name) ? 'dead' : verdict.kind
      verdicts.set(name, { ...verdict, kind })
    }
  }
  return verdicts
}
