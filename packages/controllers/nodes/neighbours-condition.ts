import type { Node, NodeCondition } from '@skerry/api'
import type { Verdict } from '@skerry/neighbours'
import { controllerBounds } from '../limits-table.ts'
import { conditionOf } from './node-health.ts'
import { neighboursCondition, type Judged } from './standing.ts'

const { namesMax } = controllerBounds.neighboursCondition

type ConditionChange = NodeCondition | { readonly type: string; readonly $patch: 'delete' }

const words: Readonly<Record<Verdict['kind'], Pick<NodeCondition, 'status' | 'reason'>>> =
  Object.freeze({
    seen: { status: 'True', reason: 'MajoritySees' },
    dead: { status: 'False', reason: 'MajorityMisses' },
    open: { status: 'Unknown', reason: 'NoMajority' },
  })

/** Returns the change by which the node shows what its neighbours say, or undefined if it does. Pure. */
export function planCondition(
  node: Node,
  { verdict }: Judged,
  timestamp: string,
): ConditionChange | undefined {
  const shown = conditionOf(node, neighboursCondition)
  if (verdict === undefined) {
    return shown && { type: neighboursCondition, $patch: 'delete' }
  }
  const { status, reason } = words[verdict.kind]
  const message = messageOf(verdict)
  const isSame = shown?.status === status
  if (isSame && shown.reason === reason && shown.message === message) return undefined
  return {
    type: neighboursCondition,
    status,
    reason,
    message,
    lastHeartbeatTime: timestamp,
    lastTransitionTime: isSame ? (shown.lastTransitionTime ?? timestamp) : timestamp,
  }
}

interface NeighboursEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** Returns what people should hear of a silent node about which its neighbours have decided. */
export function neighboursEvent(
  { metadata }: Node,
  { standing, verdict }: Judged,
): NeighboursEvent | undefined {
  if (verdict === undefined) return undefined
  const { name } = metadata
  const votes = messageOf(verdict)
  if (standing === 'dead') {
    const message = `Neighbours agree that node ${name} is dead: ${votes}`
    return { type: 'Warning', reason: 'NeighboursAgreeDead', message }
  }
  if (standing !== 'seen') return undefined
  const message = `Node ${name} is silent and keeps its pods: ${votes}`
  return { type: 'Normal', reason: 'NeighboursSeeNode', message }
}

function messageOf({ seenBy, missedBy }: Verdict): string {
  return `seen by ${listOf(seenBy)}; missed by ${listOf(missedBy)}`
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'nobody'
  const more = names.length - namesMax
  return [...names.slice(0, namesMax), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** Returns true if the neighbours of a node that does not answer agree that it is dead. */
export function isCalledDead(node: Node | undefined): boolean {
  return node !== undefined && conditionOf(node, neighboursCondition)?.status === 'False'
}
