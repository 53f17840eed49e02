import { ExpectedError, exitCodes } from '@skerry/base'
import type { Cluster as Api } from '@skerry/client'
import { clusterResource, parentOf } from '@skerry/karmada'
import { openChosenHub } from './admin-cluster.ts'
import type { ChosenHub } from './chosen-hub.ts'
import { deleteFromHub, shutOut } from './strike-off.ts'

interface OnHub extends ChosenHub {
  output: string | undefined
}

const askMs = 30_000

export async function revokeCluster(
  options: OnHub & { name: string; deletesObject: boolean },
): Promise<void> {
  const { name } = options
  const { cluster } = await openChosenHub(options)
  const signal = AbortSignal.timeout(askMs)
  const wayBack = await wayBackOf(cluster, name, signal)
  await shutOut(cluster, { name, nowMs: Date.now() }, signal)
  if (options.deletesObject && !(await deleteFromHub(cluster, name, signal))) {
    throw new ExpectedError(`Cannot delete cluster "${name}": the hub has none`, exitCodes.usage)
  }
  if (options.output === 'json') console.log(JSON.stringify({ cluster: name, revoked: true }))
  else console.log(`Revoked the agent of ${name}; "${wayBack}" lets it in again`)
}

/** A virtual cluster asks by itself, by its parent's agent; every other one needs a token. */
async function wayBackOf(hub: Api, name: string, signal: AbortSignal): Promise<string> {
  const { items } = await hub
    .resource(clusterResource)
    .list({ fieldSelector: `metadata.name=${name}` }, signal)
  const isVirtual = items.some((cluster) => parentOf(cluster) !== undefined)
  return `skerry cluster ${isVirtual ? 'accept' : 'join-command'} ${name}`
}
