import { isStatusError, type CrossVersionObjectReference, type Scale } from '@skerry/api'
import type { ClusterClient, DiscoveredResource, Discovery } from '@skerry/client'
import { noMatch } from './metrics-client.ts'
import { controllerBounds } from '../limits-table.ts'

/** The scaled object and its present scale. */
export interface ScaleTarget {
  readonly specReplicas: number
  readonly statusReplicas: number
  readonly selector: string
  /** Sets the replicas. After a conflict it tries again on the newer state. */
  update(replicas: number, signal: AbortSignal): Promise<void>
}

const { attemptsMax } = controllerBounds.scaleTarget

/** Reads the scale subresource. Throws with upstream's words if there is none. */
export async function readScale(
  { apiVersion = '', kind, name }: CrossVersionObjectReference,
  namespace: string,
  deps: { cluster: ClusterClient; discovery: (signal: AbortSignal) => Promise<Discovery> },
  signal: AbortSignal,
): Promise<ScaleTarget> {
  if (apiVersion.split('/').length > 2) {
    throw new RangeError(`unexpected GroupVersion string: ${apiVersion}`)
  }
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
  const { resources } = await deps.discovery(signal)
  const found = resources.filter((each) => each.group === group && each.kind === kind)
  const resource = found.find(({ isPreferred }) => isPreferred) ?? found[0]
  if (!resource) throw new RangeError(noMatch(group, kind))
  return targetOf(resource, { namespace, name }, deps.cluster, signal)
}

async function targetOf(
  resource: DiscoveredResource,
  key: { namespace: string; name: string },
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<ScaleTarget> {
  const client = cluster.resource(resource)
  const request = { ...key, subresource: 'scale' }
  const read = async (scope: AbortSignal): Promise<Scale> => {
    const object: unknown = await client.getSubresource(request, scope)
    // The scale subresource of every kind answers with this type.
    return object as Scale
  }
  const scale = await read(signal)
  return {
    specReplicas: scale.spec?.replicas ?? 0,
    statusReplicas: scale.status?.replicas ?? 0,
    selector: scale.status?.selector ?? '',
    async update(replicas, scope) {
      let current = scale
      for (let attempt = 1; ; attempt += 1) {
        try {
          const body = { ...current, spec: { ...current.spec, replicas } }
          await client.updateSubresource({ ...request, body }, scope)
          return
        } catch (error) {
          if (!isStatusError(error, 'Conflict') || attempt === attemptsMax) throw error
          current = await read(scope)
        }
      }
    },
  }
}
