import { checkDnsLabel } from '@skerry/api'
import { ExpectedError, exitCodes, type Clock, type Random } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { agentTokenGroup } from '@skerry/fleet-kinds'
import { needsAcceptanceGroup } from '@skerry/membership'
import { createJoinToken, type JoinToken } from './join-token.ts'

export interface ClusterTokenOptions {
  clusterName: string
  /** The hub's URL https://host:port, as the agent will dial it. */
  server: string
  caPem: string
  ttlSeconds: number
  /** Whether a person must accept the agent. If omitted, by the hub's own rule. */
  needsAcceptance?: boolean
}

/** Creates a token with which only this cluster's agent may register. */
export async function createClusterToken(
  hub: ClusterClient,
  { clusterName, server, caPem, ttlSeconds, needsAcceptance }: ClusterTokenOptions,
  deps: { clock: Clock; random?: Random },
  signal: AbortSignal,
): Promise<JoinToken> {
  if (checkDnsLabel(clusterName).length > 0 || clusterName.length > 48) {
    throw new ExpectedError(
      `Cannot register cluster "${clusterName}": a name has at most 48 lower-case letters, digits and dashes`,
      exitCodes.usage,
    )
  }
  return createJoinToken(
    hub,
    {
      server,
      caPem,
      ttlSeconds,
      description: `registration of cluster ${clusterName}`,
      groups: [
        agentTokenGroup(clusterName),
        ...(needsAcceptance === true ? [needsAcceptanceGroup] : []),
      ],
    },
    deps,
    signal,
  )
}
