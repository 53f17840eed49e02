import {
  podReferences,
  type BoundObjectReference,
  type CSIDriver,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type TokenRequest,
} from '@skerry/api'
import type { UserInfo } from '../contract/access.ts'
import type { Objects } from '../contract/objects.ts'
import { notFound } from '../contract/status-answers.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import type { NodeWrite } from './node-write.ts'

/** Lets a node request tokens of pods that run on it, for audiences that those pods need. */
export async function checkNodeToken(write: NodeWrite): Promise<string | undefined> {
  const { request, nodeName } = write
  const { operation, subresource, namespace, name: account, object, user } = request
  if (operation !== 'CREATE' || subresource !== 'token' || !object) return undefined
  const { spec } = typed<TokenRequest>(object)
  const reference = spec?.boundObjectRef
  // Omitted lists are null here.
  const audiences = spec?.audiences ?? []
  return tokenProblem({ user, nodeName, namespace, account, reference, audiences }, write)
}

/** A token that a node wants, or has signed. */
export interface NodeTokenQuestion {
  readonly user: UserInfo
  readonly nodeName: string
  readonly namespace: string
  readonly account: string
  readonly reference: BoundObjectReference | null | undefined
  readonly audiences: readonly string[]
}

/** Returns why the node may not have this token, or undefined if it may. */
export async function tokenProblem(
  asked: NodeTokenQuestion,
  deps: Pick<NodeWrite, 'objects' | 'authorizer'>,
): Promise<string | undefined> {
  const { nodeName, namespace, reference, audiences } = asked
  const name = reference?.name ?? ''
  if (reference?.apiVersion !== 'v1' || reference.kind !== 'Pod' || name === '') {
    return 'node requested token not bound to a pod'
  }
  if (!reference.uid) return 'node requested token with a pod binding without a uid'
  const pod = getTyped<Pod>(deps.objects, wellKnown.pods, { namespace, name })
  if (!pod) throw notFound({ group: '', resource: 'pod' }, name)
  if (pod.metadata.uid !== reference.uid) {
    return `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`
  }
  if (pod.spec?.nodeName !== nodeName) {
    return 'node requested token bound to a pod scheduled on a different node'
  }
  return checkAudience(asked, deps, { pod, audiences })
}

async function checkAudience(
  { user, nodeName, namespace, account }: NodeTokenQuestion,
  { objects, authorizer }: Pick<NodeWrite, 'objects' | 'authorizer'>,
  { pod, audiences: [audience = '', ...more] }: { pod: Pod; audiences: readonly string[] },
): Promise<string | undefined> {
  if (more.length > 0) return 'node may only request 0 or 1 audiences'
  if (projectedAudiences(pod).includes(audience)) return undefined
  if (driversOf(pod, objects).some((driver) => wantsAudience(driver, audience, objects))) {
    return undefined
  }
  const { verdict } = await authorizer.authorize({
    user,
    verb: 'request-serviceaccounts-token-audience',
    isResourceRequest: true,
    resource: { group: '', version: 'v1', resource: audience },
    namespace,
    name: account,
    path: '',
  })
  if (verdict === 'allow') return undefined
  const name = JSON.stringify(audience)
  return `audience ${name} not found in pod spec volume, system:node:${nodeName} is not authorized to request tokens for this audience`
}

function projectedAudiences({ spec }: Pod): string[] {
  const sources = (spec?.volumes ?? []).flatMap((volume) => volume.projected?.sources ?? [])
  return sources.flatMap(({ serviceAccountToken: token }) => (token ? [token.audience ?? ''] : []))
}

/** Returns the CSI drivers of the pod's volumes, whose CSIDriver may request tokens of the pod. */
function driversOf(pod: Pod, objects: Objects): string[] {
  return podReferences(pod).flatMap(({ resource, namespace, name }) => {
    if (resource === 'csidrivers') return [name]
    if (resource !== 'persistentvolumeclaims') return []
    const claim = getTyped<PersistentVolumeClaim>(objects, wellKnown.persistentVolumeClaims, {
      namespace,
      name,
    })
    const volume = getTyped<PersistentVolume>(objects, wellKnown.persistentVolumes, {
      name: claim?.spec?.volumeName ?? '',
    })
    return volume?.spec?.csi?.driver ?? []
  })
}

function wantsAudience(driver: string, audience: string, objects: Objects): boolean {
  const found = getTyped<CSIDriver>(objects, wellKnown.csiDrivers, { name: driver })
  return found?.spec.tokenRequests?.some((request) => request.audience === audience) === true
}
