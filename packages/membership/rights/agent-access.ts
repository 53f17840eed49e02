import { StatusError, isJsonObject, type AnyObject } from '@skerry/api'
import type { AdmissionPlugin, Attributes, Authorizer, Objects } from '@skerry/apiserver'
import { resources } from '@skerry/client'
import {
  clusterOfAgent,
  clusterOfReporter,
  clusterOfToken,
  isOpenToken,
  virtualAgentOf,
  clusterResource,
  executionNamespace,
  childrenSelector,
  parentOf,
} from '@skerry/fleet-kinds'
import { isCovered, reporterRules, requestRule, type AgentRule } from './agent-rule.ts'
import { electionLease, electionNamespace } from './karmada-agent.ts'
import { isVirtuals } from './virtual-agent-access.ts'
import { clusterAskedFor, virtualChildren } from './virtual-parent.ts'

const read = ['get', 'list', 'watch']
const write = ['create', 'update', 'patch']
const own = (name: string): string => name

const agentRules: readonly AgentRule[] = [
  // Only admission sees a new object's name: see agentRestriction.
  { group: clusterResource.group, resources: ['clusters'], verbs: ['create'] },
  {
    group: clusterResource.group,
    resources: ['clusters', 'clusters/status'],
    verbs: ['get', 'update', 'patch'],
    name: own,
  },
  // The name is matched through the field selector metadata.name.
  { group: clusterResource.group, resources: ['clusters'], verbs: ['list', 'watch'], name: own },
  { group: clusterResource.group, resources: ['clusters/tunnel'], verbs: ['get'], name: own },
  ...reporterRules,
  {
    group: 'work.karmada.io',
    resources: ['works'],
    verbs: [...read, 'update', 'patch', 'delete'],
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
  requestRule,
]

const tokenRules: readonly AgentRule[] = [requestRule]

/** The rights to a free name: to look for it, and to create a virtual cluster of it with apply. */
const futureRules: readonly AgentRule[] = [
  {
    group: clusterResource.group,
    resources: ['clusters'],
    verbs: ['get', 'patch'],
    name: own,
  },
]

/**
 * Allows an agent to use its own cluster's objects, and to create and watch its virtual clusters; allows a
 * registration token to request a certificate. A virtual cluster's other objects are for that cluster's own
 * identity. One table replaces Karmada's roles per cluster, which were 50,000 objects for 10,000 clusters.
 */
export function agentAuthorizer(objects: Objects): Authorizer {
  const children = virtualChildren(objects)
  const isFutures = (parent: string, attributes: Attributes): boolean => {
    const name = clusterAskedFor(attributes)
    return isCovered(futureRules, name, attributes) && children.mayRegister(parent, name)
  }
  const isAgents = (agentOf: string, attributes: Attributes): boolean =>
    isCovered(agentRules, agentOf, attributes) ||
    isOfAllChildren(agentOf, attributes) ||
    isFutures(agentOf, attributes)
  return {
    async authorize(attributes) {
      const { user } = attributes
      if (isOthersRequest(attributes, objects)) return { verdict: 'no-opinion', reason: '' }
      const agentOf = clusterOfAgent(user)
      const virtual = virtualAgentOf(user)
      const whole = agentOf ?? virtual?.parent
      if (whole !== undefined && isPushed(whole, objects)) {
        return { verdict: 'no-opinion', reason: 'its cluster is in push mode' }
      }
      if (agentOf !== undefined && isVirtual(agentOf, objects)) {
        return { verdict: 'no-opinion', reason: 'its name is a virtual cluster of another one' }
      }
      const tokenOf = clusterOfToken(user)
      const allowed =
        (agentOf !== undefined && isAgents(agentOf, attributes)) ||
        (virtual !== undefined && isVirtuals(virtual, attributes, children)) ||
        ((tokenOf !== undefined || isOpenToken(user)) &&
          isCovered(tokenRules, tokenOf ?? '', attributes))
      return { verdict: allowed ? 'allow' : 'no-opinion', reason: '' }
    },
  }
}

/**
 * Reports whether another user made the certificate request: an agent must not fetch the certificate of a
 * revoked one. A missing request leads to NotFound for every user.
 */
function isOthersRequest({ user, resource, name = '' }: Attributes, objects: Objects): boolean {
  if (resource?.group !== 'certificates.k8s.io' || name === '') return false
  const spec = objects.get(resources.certificateSigningRequests, '', name)?.['spec']
  return isJsonObject(spec) && spec['username'] !== user.name
}

/**
 * Reports whether the cluster is in push mode, where the hub does an agent's work: two writers would
 * overwrite each other.
 */
function isPushed(name: string, objects: Objects): boolean {
  const spec = objects.get(clusterResource, '', name)?.['spec']
  return isJsonObject(spec) && spec['syncMode'] === 'Push'
}

/**
 * Reports whether the cluster is virtual. A token or certificate from when its name was free is not for that
 * cluster.
 */
function isVirtual(name: string, objects: Objects): boolean {
  const cluster = objects.get(clusterResource, '', name)
  return cluster !== undefined && parentOf(cluster) !== undefined
}

/** Allows watching all its virtual clusters with one watch, and their Works with another. */
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

/**
 * Checks the name of a new object, which authorization cannot see: it must be the agent's own, or one of its
 * virtual clusters.
 */
export function agentRestriction(objects: Objects): AdmissionPlugin {
  const children = virtualChildren(objects)
  return {
    name: 'AgentRestriction',
    handles: ({ operation, user, resource }) =>
      operation === 'CREATE' &&
      ['clusters', 'leases'].includes(resource.resource) &&
      clusterOfReporter(user) !== undefined,
    async validate({ object, resource, user, namespace }) {
      const ownName = clusterOfReporter(user) ?? ''
      const name = object?.metadata.name ?? ''
      const isCluster = resource.resource === 'clusters'
      const isVirtual = virtualAgentOf(user) !== undefined
      const isOwn = name === ownName && !(isCluster && isVirtual)
      const isChilds = isCluster && !isVirtual && children.mayRegister(ownName, name)
      const isElection =
        namespace === electionNamespace && name === electionLease(ownName) && !isVirtual
      if (isOwn || isChilds || isElection) return
      throw new StatusError(
        'Forbidden',
        `${resource.resource} "${name}" is forbidden: agent of cluster "${ownName}" may create only its own, and virtual clusters where the hub allows them`,
      )
    },
  }
}

/** Refuses a second Cluster with the same id, as Karmada does: it would be one cluster seen twice. */
export function clusterIdentity(objects: Objects): AdmissionPlugin {
  return {
    name: 'ClusterIdentity',
    handles: ({ operation, resource, subresource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === clusterResource.group &&
      resource.resource === 'clusters' &&
      subresource === '',
    async validate({ object, oldObject, name }) {
      const id = idOf(object)
      const own = object?.metadata.name ?? name
      // All Clusters are compared only with a new id: each agent applies its own at every start.
      if (id === undefined || id === idOf(oldObject)) return
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
