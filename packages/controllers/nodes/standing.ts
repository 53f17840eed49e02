import type { Lease, Node } from '@skerry/api'
import {
  createRing,
  deadAmong,
  groupsBy,
  parseWord,
  wordAnnotation,
  type Verdict,
  type Word,
} from '@skerry/neighbours'
import { nodeHealthDefaults } from '../limits-table.ts'
import { conditionOf, type Heartbeat } from './node-health.ts'

/** The standing of a node: its own sign of life counts for more than what its neighbours say. */
export type Standing =
  /** It has given a sign of life lately. */
  | 'heard'
  /** It is silent, and most of its neighbours see it. */
  | 'seen'
  /** It is silent, and its neighbours agree that it is dead. */
  | 'dead'
  /** It is silent for too long, and its neighbours say nothing clear: Kubernetes' own rule. */
  | 'silent'

export interface Judged {
  readonly standing: Standing
  /** The votes about it; undefined if it has no neighbours. */
  readonly verdict: Verdict | undefined
}

export interface Signs {
  /** The label whose values name the groups. If undefined, no node has neighbours. */
  readonly label: string | undefined
  readonly nodes: readonly Node[]
  leaseOf(name: string): Lease | undefined
  heartbeatOf(name: string): Heartbeat | undefined
  readonly nowMs: number
}

export const neighboursCondition = 'SeenByNeighbours'

const { graceMs, startupGraceMs, suspectMs, missedWordMs } = nodeHealthDefaults

/** Judges all nodes by their own signs of life and by the words of their neighbours. Pure. */
export function judgeNodes(signs: Signs): ReadonlyMap<string, Judged> {
  const verdicts = verdictsOf(signs)
  return new Map(
    signs.nodes.map((node): [string, Judged] => {
      const { name = '' } = node.metadata
      const verdict = verdicts.get(name)
      const heartbeat = signs.heartbeatOf(name)
      if (heartbeat === undefined) return [name, { standing: 'heard', verdict }]
      const silentMs = signs.nowMs - heartbeat.seenMs
      return [name, { standing: standingOf(node, { heartbeat, silentMs, verdict }), verdict }]
    }),
  )
}

interface Known {
  readonly heartbeat: Heartbeat
  readonly silentMs: number
  readonly verdict: Verdict | undefined
}

function standingOf(node: Node, { heartbeat, silentMs, verdict }: Known): Standing {
  const hasReported = heartbeat.sign.trim() !== ''
  if (verdict?.kind === 'dead' && hasReported && silentMs > suspectMs) return 'dead'
  if (silentMs <= (hasReported ? graceMs : startupGraceMs)) {
    // A process that has just started has heard neither the node nor its neighbours, and lets its predecessor's word hold.
    const isKept = !heartbeat.isFresh && verdict !== undefined && wasKept(node)
    return isKept ? 'seen' : 'heard'
  }
  return verdict?.kind === 'seen' ? 'seen' : 'silent'
}

function wasKept(node: Node): boolean {
  const isSilent = conditionOf(node, 'Ready')?.status === 'Unknown'
  return isSilent && conditionOf(node, neighboursCondition)?.status === 'True'
}

function verdictsOf({ label, nodes, ...signs }: Signs): ReadonlyMap<string, Verdict> {
  if (label === undefined) return new Map()
  const wasDead = new Set(
    nodes.flatMap((node) => {
      const { name = '' } = node.metadata
      const isCalledDead = conditionOf(node, neighboursCondition)?.status === 'False'
      return isCalledDead && isSuspect(signs.heartbeatOf(name), signs.nowMs) ? [name] : []
    }),
  )
  const verdicts = new Map<string, Verdict>()
  for (const names of groupsBy(label, nodes).values()) {
    if (names.length < 2) continue
    const ring = createRing(names)
    const found = deadAmong(names, wasDead, (name, isDead) => ({
      voters: ring.votersOn(name),
      wordOf: (voter) => wordOf(voter, signs),
      isDead,
    }))
    for (const [name, verdict] of found) verdicts.set(name, verdict)
  }
  return verdicts
}

function isSuspect(heartbeat: Heartbeat | undefined, nowMs: number): boolean {
  return heartbeat !== undefined && nowMs - heartbeat.seenMs > suspectMs
}

/**
 * Returns what a node says of its neighbours while it gives signs of life. A word from before this process started may be
 * of any age, so it counts only after the first sign that was seen to come. That a node misses another one counts for a
 * shorter time than that it sees it.
 */
function wordOf(
  name: string,
  { leaseOf, heartbeatOf, nowMs }: Omit<Signs, 'label' | 'nodes'>,
): Word | undefined {
  const heartbeat = heartbeatOf(name)
  if (heartbeat?.isFresh !== true) return undefined
  const ageMs = nowMs - heartbeat.seenMs
  if (ageMs > graceMs) return undefined
  const word = parsedWord(leaseOf(name))
  return word && ageMs > missedWordMs ? { ...word, missed: [] } : word
}

/** A lease of an informer never changes, and its word is read with each check. */
const parsed = new WeakMap<Lease, { readonly word: Word | undefined }>()

function parsedWord(lease: Lease | undefined): Word | undefined {
  if (lease === undefined) return undefined
  const known = parsed.get(lease)
  if (known) return known.word
  const word = parseWord(lease.metadata.annotations?.[wordAnnotation])
  parsed.set(lease, { word })
  return word
}
