import { StatusError, type AnyObject } from '@skerry/api'
import type { AdmissionPlugin, Attributes, Authorizer, Objects } from '@skerry/apiserver'
import { clusterOfAgent, clusterOfToken } from './agent-identity.ts'
import { clusterNamespace, clusterResource, executionNamespace } from './cluster.ts'

/** What an agent may do: one rule for all, in which `own` stands for its own cluster. */
interface AgentRule {
  readonly group: string
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  /** Absent: any name, also none. */
  readonly name?: (own: string) => string
  /** Absent: cluster scope. */
  readonly namespace?: (own: string) => string
}

const read = ['get', 'list', 'watch']
const write = ['create', 'update', 'patch']
const own = (name: string): string => name

const agentRules: readonly AgentRule[] = [
  // Which name a new one has is seen by admission only, see agentRestriction.
  { group: clusterResource.group, resources: ['clusters'], verbs: ['create'] },
  {
    group: clusterResource.group,
    resources: ['clusters', 'clusters/status'],
    verbs: ['get', 'update', 'patch'],
    name: own,
  },
  // By the field selector metadata.name.
  { group: clusterResource.group, resources: ['clusters'], verbs: ['list', 'watch'], name: own },
  { group: clusterResource.group, resources: ['clusters/tunnel'], verbs: ['get'], name: own },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['create'],
    namespace: () => clusterNamespace,
  },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'update', 'patch'],
    name: own,
    namespace: () => clusterNamespace,
  },
  {
    group: 'work.karmada.io',
    resources: ['works'],
    verbs: [...read, 'update', 'patch', 'delete'],
    namespace: executionNamespace,
  },
  {
    group: 'work.karmada.io',
    resources: ['works/status'],
    verbs: ['get', 'update', 'patch'],
    namespace: executionNamespace,
  },
  { group: '', resources: ['events'], verbs: write, namespace: executionNamespace },
  {
    group: '',
    resources: ['namespaces'],
    verbs: ['get'],
    name: executionNamespace,
    namespace: executionNamespace,
  },
  {
    group: 'certificates.k8s.io',
    resources: ['certificatesigningrequests'],
    verbs: ['create', 'get'],
  },
]

const tokenRules: readonly AgentRule[] = agentRules.filter(
  ({ group }) => group === 'certificates.k8s.io',
)

/**
 * Lets an agent touch what is its own cluster's, and a registration token ask for a certificate. One
 * table in place of Karmada's roles per cluster: with 10,000 clusters those were 50,000 objects.
 */
export const agentAuthorizer: Authorizer = {
  async authorize(attributes) {
    const { user } = attributes
    const agentOf = clusterOfAgent(user)
    const tokenOf = clusterOfToken(user)
    const allowed =
      (agentOf !== undefined && isCovered(agentRules, agentOf, attributes)) ||
      (tokenOf !== undefined && isCovered(tokenRules, tokenOf, attributes))
    return { verdict: allowed ? 'allow' : 'no-opinion', reason: '' }
  },
}

function isCovered(
  rules: readonly AgentRule[],
  ownName: string,
  { isResourceRequest, resource, subresource, verb, namespace = '', name = '' }: Attributes,
): boolean {
  if (!isResourceRequest || resource === undefined) return false
  const wanted = subresource ? `${resource.resource}/${subresource}` : resource.resource
  return rules.some(
    (rule) =>
      rule.group === resource.group &&
      rule.resources.includes(wanted) &&
      rule.verbs.includes(verb) &&
      (rule.namespace?.(ownName) ?? '') === namespace &&
      (rule.name === undefined || rule.name(ownName) === name),
  )
}

/** A create has no name that authorization could see: here it has, and must be the agent's own. */
export const agentRestriction: AdmissionPlugin = {
  name: 'AgentRestriction',
  handles: ({ operation, user, resource }) =>
    operation === 'CREATE' &&
    ['clusters', 'leases'].includes(resource.resource) &&
    clusterOfAgent(user) !== undefined,
  async validate({ object, resource, user }) {
    const ownName = clusterOfAgent(user)
    const name = object?.metadata.name ?? ''
    if (name === ownName) return
    throw new StatusError(
      'Forbidden',
      `${resource.resource} "${name}" is forbidden: agent of cluster "${ownName}" may create only its own`,
    )
  },
}

/** Two Clusters with one id would be one cluster seen twice: Karmada refuses the second, so do we. */
export function clusterIdentity(objects: Objects): AdmissionPlugin {
  return {
    name: 'ClusterIdentity',
    handles: ({ operation, resource, subresource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === clusterResource.group &&
      resource.resource === 'clusters' &&
      subresource === '',
    async validate({ object, name }) {
      const id = idOf(object)
      const own = object?.metadata.name ?? name
      if (id === undefined) return
      const twin = objects
        .list(clusterResource)
        .find((other) => other.metadata.name !== own && idOf(other) === id)
      if (twin === undefined) return
      throw new StatusError(
        'Conflict',
        `clusters.cluster.karmada.io "${own}" is refused: the cluster with id ${id} is registered as "${twin.metadata.name}"`,
      )
    },
  }
}

function idOf(object: AnyObject | undefined): string | undefined {
  const spec = object?.['spec']
  if (typeof spec !== 'object' || spec === null || !('id' in spec)) return undefined
  return typeof spec.id === 'string' && spec.id !== '' ? spec.id : undefined
}
