import { StatusError, isJsonObject, type AnyObject } from '@skerry/api'
import type { AdmissionPlugin, Attributes, Authorizer, Objects } from '@skerry/apiserver'
import { clusterOfAgent, clusterOfToken, isOpenToken } from './agent-identity.ts'
import { electionLease, electionNamespace } from '../registration/karmada-agent.ts'
import { clusterNamespace, clusterResource, executionNamespace } from './cluster.ts'
import { childrenSelector, clusterAskedFor, virtualChildren } from './virtual-parent.ts'

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
  {
    group: 'config.karmada.io',
    resources: ['resourceinterpretercustomizations', 'resourceinterpreterwebhookconfigurations'],
    verbs: read,
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

/** For a virtual cluster of an agent's: it has no tunnel and no certificate, and goes with its group. */
const childRules: readonly AgentRule[] = [
  ...agentRules.filter(
    ({ group, resources }) =>
      group !== 'certificates.k8s.io' && !resources.includes('clusters/tunnel'),
  ),
  { group: clusterResource.group, resources: ['clusters'], verbs: ['delete'], name: own },
]

/** Of a virtual cluster that is not registered yet: to look for it, and to apply it. */
const futureRules: readonly AgentRule[] = childRules.filter(
  ({ group, namespace }) => group === clusterResource.group && namespace === undefined,
)

/**
 * Lets an agent touch what is its own cluster's or its virtual clusters', and a registration token
 * ask for a certificate. One table in place of Karmada's roles per cluster: with 10,000 clusters
 * those were 50,000 objects.
 */
export function agentAuthorizer(objects: Objects): Authorizer {
  const children = virtualChildren(objects)
  const isChilds = (parent: string, attributes: Attributes): boolean => {
    if (isOfAllChildren(parent, attributes)) return true
    const name = clusterAskedFor(attributes)
    if (name === '' || name === parent) return false
    return (
      (isCovered(childRules, name, attributes) && children.has(parent, name)) ||
      (isCovered(futureRules, name, attributes) && children.mayRegister(parent, name))
    )
  }
  return {
    async authorize(attributes) {
      const { user } = attributes
      const agentOf = clusterOfAgent(user)
      if (agentOf !== undefined && isPushed(agentOf, objects)) {
        return { verdict: 'no-opinion', reason: 'its cluster is in push mode' }
      }
      const tokenOf = clusterOfToken(user)
      const allowed =
        (agentOf !== undefined &&
          (isCovered(agentRules, agentOf, attributes) || isChilds(agentOf, attributes))) ||
        ((tokenOf !== undefined || isOpenToken(user)) &&
          isCovered(tokenRules, tokenOf ?? '', attributes))
      return { verdict: allowed ? 'allow' : 'no-opinion', reason: '' }
    },
  }
}

/** Then the hub does what an agent would: two would write over each other. */
function isPushed(name: string, objects: Objects): boolean {
  const spec = objects.get(clusterResource, '', name)?.['spec']
  return isJsonObject(spec) && spec['syncMode'] === 'Push'
}

/** To follow all its virtual clusters by one watch, and their Works by another. */
function isOfAllChildren(
  parent: string,
  { resource, subresource, verb, labelSelector, namespace = '' }: Attributes,
): boolean {
  const isFollowed =
    (resource?.group === clusterResource.group && resource.resource === 'clusters') ||
    (resource?.group === 'work.karmada.io' && resource.resource === 'works' && namespace === '')
  return (
    isFollowed &&
    !subresource &&
    (verb === 'list' || verb === 'watch') &&
    labelSelector === childrenSelector(parent)
  )
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

/**
 * A create has no name that authorization could see: here it has, and must be the agent's own, or one
 * of its virtual clusters.
 */
export function agentRestriction(objects: Objects): AdmissionPlugin {
  const children = virtualChildren(objects)
  return {
    name: 'AgentRestriction',
    handles: ({ operation, user, resource }) =>
      operation === 'CREATE' &&
      ['clusters', 'leases'].includes(resource.resource) &&
      clusterOfAgent(user) !== undefined,
    async validate({ object, resource, user, namespace }) {
      const ownName = clusterOfAgent(user) ?? ''
      const name = object?.metadata.name ?? ''
      const isChilds =
        resource.resource === 'clusters'
          ? children.mayRegister(ownName, name)
          : children.has(ownName, name)
      const isElection = namespace === electionNamespace && name === electionLease(ownName)
      if (name === ownName || isChilds || isElection) return
      throw new StatusError(
        'Forbidden',
        `${resource.resource} "${name}" is forbidden: agent of cluster "${ownName}" may create only its own, and those of virtual clusters where the hub allows them`,
      )
    },
  }
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
