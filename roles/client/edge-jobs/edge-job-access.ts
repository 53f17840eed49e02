import { isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { ClusterClient, ResourceClient } from '@skerry/client'
import { edgeJobResource, type EdgeJob } from '@skerry/provisioning'
import { openChosenHub } from '../../admin/admin-cluster.ts'
import { soon, type EdgeOptions } from '../edge-clusters/edge-cluster-access.ts'

export interface JobAccess {
  readonly hub: ClusterClient
  readonly client: ResourceClient<EdgeJob>
  readonly key: { readonly namespace: string; readonly name: string }
}

/** Throws ExpectedError. */
export async function openJob(options: EdgeOptions): Promise<JobAccess> {
  const { namespace, name } = options
  const { cluster: hub } = await openChosenHub(options)
  return { hub, client: hub.resource(edgeJobResource), key: { namespace, name } }
}

/** Throws ExpectedError if there is none of that name. */
export async function readJob({ client, key }: JobAccess): Promise<EdgeJob> {
  try {
    return await client.get(key, soon())
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    throw noJob(key)
  }
}

export function noJob({ namespace, name }: JobAccess['key']): ExpectedError {
  return new ExpectedError(
    `Cannot find edge job "${name}" in namespace "${namespace}": the hub has none; see "skerry edge-job list --all-namespaces"`,
    exitCodes.usage,
  )
}
