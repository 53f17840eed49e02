import { isStatusError, StatusError } from '@skerry/api'
import { ExpectedError, exitCodes, systemClock, type Clock } from '@skerry/base'
import type { ClusterClient, ResourceClient } from '@skerry/client'
import { edgeClusterResource, type EdgeCluster } from '@skerry/provisioning'
import { openChosenHub } from '../../admin/admin-cluster.ts'
import type { ChosenHub } from '../../admin/chosen-hub.ts'
import { askMs, changeAttemptsMax } from '../limits-table.ts'

/** The time of the commands on edge clusters. */
export const commandClock: Clock = systemClock

/** Returns the signal of one request to the hub. */
export function soon(): AbortSignal {
  return AbortSignal.timeout(askMs)
}

/** The edge cluster that a command is about, and its hub. */
export interface EdgeOptions extends ChosenHub {
  name: string
  namespace: string
  /** Either json or, if omitted, text for people. */
  output: string | undefined
}

export interface EdgeAccess {
  readonly hub: ClusterClient
  readonly client: ResourceClient<EdgeCluster>
  readonly key: { readonly namespace: string; readonly name: string }
}

/** Throws ExpectedError. */
export async function openEdge(options: EdgeOptions): Promise<EdgeAccess> {
  const { namespace, name } = options
  const { cluster: hub } = await openChosenHub(options)
  return { hub, client: hub.resource(edgeClusterResource), key: { namespace, name } }
}

/** Throws ExpectedError if there is none of that name. */
export async function readEdge(
  { client, key }: ChangeAccess,
  signal: AbortSignal,
): Promise<EdgeCluster> {
  try {
    return await client.get(key, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    throw noEdge(key)
  }
}

export interface EdgeChange {
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: Partial<EdgeCluster['spec']>
}

export interface ChangeAccess {
  readonly client: Pick<EdgeAccess['client'], 'get' | 'patch'>
  readonly key: EdgeAccess['key']
}

/** Writes what follows from the object as it is; once more if somebody, such as the hub itself, changed it meanwhile. */
export async function changeEdge(
  access: ChangeAccess,
  change: (edge: EdgeCluster) => EdgeChange,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const edge = await readEdge(access, soon())
    const { annotations, spec } = change(edge)
    const { resourceVersion } = edge.metadata
    const patch = {
      metadata: { resourceVersion, ...(annotations === undefined ? {} : { annotations }) },
      ...(spec === undefined ? {} : { spec }),
    }
    try {
      await access.client.patch({ ...access.key, type: 'merge', patch }, soon())
      return
    } catch (error) {
      if (!isStatusError(error, 'Conflict') || attempt >= changeAttemptsMax) throw error
    }
  }
}

export function noEdge({ namespace, name }: EdgeAccess['key']): ExpectedError {
  return new ExpectedError(
    `Cannot find edge cluster "${name}" in namespace "${namespace}": the hub has none; see "skerry edge-cluster list --all-namespaces"`,
    exitCodes.usage,
  )
}

/** Formats the option without which a further command would mean another namespace. */
export function namespaceWords(namespace: string): string {
  return namespace === 'default' ? '' : ` --namespace ${namespace}`
}

const usageReasons = ['Invalid', 'BadRequest', 'AlreadyExists', 'NotFound', 'Conflict']

/** Runs a command's work. A refusal of the hub becomes one line: it names the field, the right or the object. */
export async function toldPlainly(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const code = usageReasons.includes(error.reason) ? exitCodes.usage : exitCodes.failure
    throw new ExpectedError(`Cannot ${what}: ${error.message}`, code, { cause: error })
  }
}
