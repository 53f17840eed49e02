import { isDeepStrictEqual } from 'node:util'
import { StatusError, type AnyObject } from '@skerry/api'
import type { AdmissionPlugin, Authorizer, UserInfo } from '@skerry/apiserver'
import { resources } from '@skerry/client'
import {
  agentsGroup,
  virtualAgentOf,
  clusterResource,
  type Cluster,
  type ClusterSpec,
} from '@skerry/fleet-kinds'

/** The fields that set the address and credentials of a cluster in push mode. */
const wayFields = [
  'syncMode',
  'apiEndpoint',
  'secretRef',
  'impersonatorSecretRef',
  'insecureSkipTLSVerification',
  'proxyURL',
  'proxyHeader',
] as const satisfies readonly (keyof ClusterSpec)[]

/**
 * Restricts who may have the hub dial a cluster: nobody if it runs without `--push`, and never an agent.
 * Other users must be allowed to read the Secrets that the hub would send there, because then they could send
 * them themselves.
 */
export function pushAdmission(isOn: boolean, authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'PushMode',
    handles: ({ operation, resource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === clusterResource.group &&
      resource.resource === clusterResource.resource,
    async validate({ object, oldObject, user, name }) {
      if (object === undefined) return
      const next = clusterOf(object)
      const old = oldObject && clusterOf(oldObject)
      if (!isPushed(next) && !isPushed(old)) return
      const isAgent = user.groups.includes(agentsGroup) || virtualAgentOf(user) !== undefined
      const why = isAgent
        ? agentProblem(old)
        : await userProblem({ next, old, user }, isOn, authorizer)
      if (why === undefined) return
      const shown = JSON.stringify(name || (next.metadata.name ?? ''))
      const { group, resource } = clusterResource
      throw new StatusError('Forbidden', `${resource}.${group} ${shown} is forbidden: ${why}`)
    },
  }
}

export function isPushed(cluster: Pick<Cluster, 'spec'> | undefined): boolean {
  return cluster?.spec.syncMode === 'Push'
}

function clusterOf(object: AnyObject): Cluster {
  // The registry hands plugins only objects that were decoded as their kind.
  return object as unknown as Cluster
}

function agentProblem(old: Cluster | undefined): string {
  return isPushed(old)
    ? 'it is in push mode, and no agent speaks for it'
    : 'an agent may not put a cluster in push mode'
}

interface Write {
  readonly next: Cluster
  readonly old: Cluster | undefined
  readonly user: UserInfo
}

async function userProblem(
  { next, old, user }: Write,
  isOn: boolean,
  authorizer: Authorizer,
): Promise<string | undefined> {
  const isSameWay = wayFields.every((field) =>
    isDeepStrictEqual(next.spec[field], old?.spec[field]),
  )
  if (isSameWay || !isPushed(next)) return undefined
  if (!isOn) {
    return 'this hub dials no cluster, so it has none in push mode; register it with "karmadactl register" or "skerry cluster join-command", or run the hub with --push'
  }
  for (const reference of [next.spec.secretRef, next.spec.impersonatorSecretRef]) {
    const { namespace = '', name = '' } = reference ?? {}
    if (name === '' || (await mayRead(user, { namespace, name }, authorizer))) continue
    return `a user who has the hub send secret "${namespace}/${name}" to a cluster must be allowed to get it`
  }
  return undefined
}

async function mayRead(
  user: UserInfo,
  key: { readonly namespace: string; readonly name: string },
  authorizer: Authorizer,
): Promise<boolean> {
  const { verdict } = await authorizer.authorize({
    user,
    verb: 'get',
    isResourceRequest: true,
    resource: resources.secrets,
    subresource: '',
    ...key,
    path: '',
  })
  return verdict === 'allow'
}
