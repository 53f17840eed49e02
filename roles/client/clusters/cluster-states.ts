import { isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import { readBody, statusErrorOf, type ClusterClient } from '@skerry/client'
import { clusterStatesPath, type ClusterState, type ClusterStates } from '@skerry/gateway'
import { openChosenHub } from '../../admin/admin-cluster.ts'
import type { ChosenHub } from '../../admin/chosen-hub.ts'

/** Throws ExpectedError. */
export async function openHub(flags: ChosenHub): Promise<ClusterClient> {
  return (await openChosenHub(flags)).cluster
}

/** Reads the states of all clusters that this user may see. */
export async function readStates(
  hub: ClusterClient,
  signal: AbortSignal,
): Promise<readonly ClusterState[]> {
  // The path answers in this shape, or with a Status.
  return ((await read(hub, clusterStatesPath, signal)) as ClusterStates).clusters
}

/** Throws ExpectedError where there is no such cluster. */
export async function readState(
  hub: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<ClusterState> {
  try {
    // The hub's answer has this type, as above.
    return (await read(
      hub,
      `${clusterStatesPath}/${encodeURIComponent(name)}`,
      signal,
    )) as ClusterState
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    throw noCluster(name)
  }
}

export function noCluster(name: string): ExpectedError {
  return new ExpectedError(
    `Cannot find cluster "${name}": the hub has none of that name; see "skerry cluster list"`,
    exitCodes.usage,
  )
}

async function read(hub: ClusterClient, path: string, signal: AbortSignal): Promise<unknown> {
  const answer = await hub.raw({ method: 'GET', path, headers: {} }, signal)
  const text = (await readBody(answer.body)).toString('utf8')
  if (answer.status !== 200) throw statusErrorOf(answer, text)
  return JSON.parse(text)
}
