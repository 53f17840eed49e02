import { ExpectedError, exitCodes } from '@skerry/base'
import { ifThere, resources } from '@skerry/client'
import { openOwnSite } from './own-site.ts'

export interface AskedNode {
  readonly name: string
  /** Unix time before which a report does not count. If omitted, every report does. */
  readonly sinceSeconds: number | undefined
}

/** Resolves if a node of the site on this machine is Ready. Throws an ExpectedError with the reason otherwise. */
export async function requireReady(
  dataDir: string,
  { name, sinceSeconds: since = 0 }: AskedNode,
): Promise<void> {
  const { cluster, signal } = await openOwnSite(dataDir)
  const node = await ifThere(cluster.resource(resources.nodes).get({ name }, signal))
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')
  const isFresh = Date.parse(ready?.lastHeartbeatTime ?? '') / 1_000 > since
  if (ready?.status === 'True' && (since === 0 || isFresh)) return
  const late =
    ready?.status === 'True' ? 'it has not reported since it was started' : ready?.message
  const why = node === undefined ? 'the site has no such node' : (late ?? 'it has not reported')
  throw new ExpectedError(`Node ${name} is not Ready: ${why}`, exitCodes.failure)
}
