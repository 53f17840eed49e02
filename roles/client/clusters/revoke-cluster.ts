import { ExpectedError, exitCodes } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { clusterResource, parentOf, type Cluster } from '@skerry/fleet-kinds'
import { openChosenHub } from '../../admin/admin-cluster.ts'
import type { ChosenHub } from '../../admin/chosen-hub.ts'
import { deleteFromHub, shutOut } from '../../admin/strike-off.ts'
import { askMs } from '../limits-table.ts'

interface OnHub extends ChosenHub {
  output: string | undefined
}

/**
 * Throws ExpectedError where the hub knows no such cluster; what an agent of that name may still hold is void then,
 * too.
 */
export async function revokeCluster(
  options: OnHub & { name: string; deletesObject: boolean },
): Promise<void> {
  const { name } = options
  const { cluster } = await openChosenHub(options)
  const signal = AbortSignal.timeout(askMs)
  const [known] = await findClusters(cluster, name, signal)
  const nowMs = await hubNowMs(cluster, signal)
  const tokens = await shutOut(cluster, { name, nowMs }, signal)
  if (known === undefined && tokens === 0) {
    throw new ExpectedError(
      `Cannot revoke the agent of "${name}": the hub has no such cluster and no token for it (certificates of that name are still revoked); "skerry cluster list" shows the names`,
      exitCodes.usage,
    )
  }
  if (options.deletesObject && !(await deleteFromHub(cluster, name, signal))) {
    throw new ExpectedError(`Cannot delete cluster "${name}": the hub has none`, exitCodes.usage)
  }
  // A virtual cluster's parent asks for it; any other cluster needs a token.
  const isVirtual = known !== undefined && parentOf(known) !== undefined
  const wayBack = `skerry cluster ${isVirtual ? 'accept' : 'join-command'} ${name}`
  if (options.output === 'json') console.log(JSON.stringify({ cluster: name, revoked: true }))
  else console.log(`Revoked the agent of ${name}; "${wayBack}" lets it in again`)
}

/**
 * Returns the hub's time. Certificates begin by the hub's clock, so a revocation uses it, too: this machine's
 * clock may be behind, and would leave the newest certificates valid. Falls back to this machine's clock if
 * the answer has no date.
 */
async function hubNowMs(hub: ClusterClient, signal: AbortSignal): Promise<number> {
  const answer = await hub.raw({ method: 'GET', path: '/version', headers: {} }, signal)
  // An answer that is not read to its end keeps its connection open.
  for await (const _chunk of answer.body) continue
  const dateMs = Date.parse(answer.headers['date'] ?? '')
  return Number.isNaN(dateMs) ? Date.now() : dateMs
}

/** The one with this name, or none. */
async function findClusters(
  hub: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<Cluster[]> {
  const request = { fieldSelector: `metadata.name=${name}` }
  return (await hub.resource(clusterResource).list(request, signal)).items
}
