import { isStatusError } from '@skerry/api'
import type { ReportedRound } from '@skerry/cluster-agent'
import {
  conditionTypes,
  type ClusterCondition,
  conditionOf,
  type ConditionText,
  virtualConditions,
} from '@skerry/fleet-kinds'

export interface ToldRound {
  /** The last one; undefined before the first. */
  readonly round: ReportedRound | undefined
  /** How the control plane's administrator allows virtual clusters, as the end of a sentence. */
  readonly howToAllow: string
}

/** Returns the texts of the conditions. A hub that is unreachable for a while unregisters no cluster. */
export function virtualConditionTexts(
  known: readonly ClusterCondition[],
  { round, howToAllow }: ToldRound,
): ConditionText[] {
  const type = virtualConditions.registered
  if (round?.cluster) {
    const ready = conditionOf(round.cluster.status?.conditions, conditionTypes.ready)
    const message = `The hub has it as Cluster "${round.cluster.metadata.name ?? ''}".`
    const { status = 'Unknown', reason = 'NotReportedYet', message: why = '' } = ready ?? {}
    return [
      { type, status: 'True', reason: 'Registered', message },
      { type: virtualConditions.ready, status, reason, message: why },
    ]
  }
  if (conditionOf(known, type)?.status === 'True') return refusedTexts(round?.error)
  if (isStatusError(round?.error, 'Forbidden')) {
    const message = `The hub does not accept it: ${round.error.message}. Its administrator ${howToAllow}`
    return [{ type, status: 'False', reason: 'NotAllowed', message }]
  }
  const message = round?.error?.message ?? 'The hub has not answered yet.'
  return [{ type, status: 'False', reason: 'NotRegistered', message }]
}

/**
 * Returns the condition of a registered cluster whose reports the hub refuses. An unreachable hub has refused
 * nothing.
 */
function refusedTexts(error: Error | undefined): ConditionText[] {
  if (!isStatusError(error, 'Forbidden') && !isStatusError(error, 'Unauthorized')) return []
  const message = `The hub does not accept its report: ${error.message}`
  return [{ type: virtualConditions.ready, status: 'Unknown', reason: 'NotTaken', message }]
}
