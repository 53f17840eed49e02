import { X509Certificate } from 'node:crypto'
import { StatusError, isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import type {
  AdmissionPlugin,
  ApiRequest,
  Attributes,
  Authorizer,
  Objects,
} from '@skerry/apiserver'
import {
  clusterOfAgent,
  isRoleGenerator,
  clusterNamespace,
  clusterResource,
  conditionTypes,
  executionNamespace,
  objectsAt,
} from '@skerry/fleet-kinds'
import { agentRolesTarget } from './role-generator.ts'

/** The namespace in which Karmada's agents elect a leader. */
export const electionNamespace = 'karmada-system'

/** The rights that Karmada's own agent needs in addition to those of ours. */
interface AgentRule {
  readonly group: string
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly names?: (own: string) => readonly string[]
  /** If omitted, cluster scope. */
  readonly namespace?: (own: string) => string
}

const rules: readonly AgentRule[] = [
  {
    group: '',
    resources: ['namespaces'],
    verbs: ['get'],
    names: () => [clusterNamespace],
    namespace: () => clusterNamespace,
  },
  {
    group: '',
    resources: ['secrets'],
    verbs: ['get', 'patch'],
    names: secretNames,
    namespace: () => clusterNamespace,
  },
  // Only admission sees a new object's name.
  { group: '', resources: ['secrets'], verbs: ['create'], namespace: () => clusterNamespace },
  { group: '', resources: ['services'], verbs: ['list', 'watch'], namespace: executionNamespace },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['create'],
    namespace: () => electionNamespace,
  },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'update', 'patch'],
    names: (own) => [electionLease(own)],
    namespace: () => electionNamespace,
  },
]

const impersonatorSuffix = '-impersonator'

/**
 * Returns the Secrets with the cluster's credentials, which the agent reports by default. The hub does not
 * use them. A cluster whose name has the suffix gets none, because another cluster's second Secret has the
 * name of its first.
 */
function secretNames(own: string): readonly string[] {
  return own.endsWith(impersonatorSuffix) ? [] : [own, `${own}${impersonatorSuffix}`]
}

/** Returns the Lease by which several agents of one cluster elect a leader. */
export function electionLease(own: string): string {
  return `karmada-agent-${own}`
}

/** The annotation of a Secret that names the cluster whose agent wrote it. */
export const writtenByAgentKey = 'hub.skerry.io/written-by-agent'

/** Allows Karmada's agent to write its own cluster's objects. */
export function karmadaAgentAuthorizer(objects: Objects): Authorizer {
  return {
    async authorize(attributes) {
      const own = clusterOfAgent(attributes.user)
      const isAllowed =
        own !== undefined &&
        rules.some((rule) => isCovered(rule, own, attributes)) &&
        !isOfOthers(own, attributes, objects)
      return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' }
    },
  }
}

/** Reports whether somebody else wrote a Secret of such a name, as `karmadactl join` does for push mode. */
function isOfOthers(
  own: string,
  { resource, namespace = '', name = '' }: Attributes,
  objects: Objects,
): boolean {
  if (resource?.group !== '' || resource.resource !== 'secrets') return false
  const secret = objects.get({ group: '', resource: 'secrets' }, namespace, name)
  return secret !== undefined && secret.metadata.annotations?.[writtenByAgentKey] !== own
}

function isCovered(
  rule: AgentRule,
  own: string,
  { resource, subresource, verb, namespace = '', name = '' }: Attributes,
): boolean {
  return (
    resource?.group === rule.group &&
    !subresource &&
    rule.resources.includes(resource.resource) &&
    rule.verbs.includes(verb) &&
    (rule.namespace?.(own) ?? '') === namespace &&
    (rule.names === undefined || rule.names(own).includes(name))
  )
}

/** Allows Secrets for the cluster's own credentials only, and marks them with the cluster. */
export const karmadaAgentSecrets: AdmissionPlugin = {
  name: 'KarmadaAgentSecrets',
  handles: ({ operation, user, resource }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    resource.group === '' &&
    resource.resource === 'secrets' &&
    clusterOfAgent(user) !== undefined,
  async admit({ object, user }) {
    if (object === undefined) return
    const own = clusterOfAgent(user) ?? ''
    object.metadata.annotations = { ...object.metadata.annotations, [writtenByAgentKey]: own }
  },
  async validate({ object, user }) {
    const own = clusterOfAgent(user) ?? ''
    const { name = '' } = object?.metadata ?? {}
    if (secretNames(own).includes(name) && object?.['type'] === 'Opaque') return
    throw new StatusError(
      'Forbidden',
      `secrets ${JSON.stringify(name)} is forbidden: agent of cluster ${JSON.stringify(own)} may keep only its own credentials`,
    )
  },
}

/** Set on a Cluster that Karmada's agent reports. */
const agentKey = 'hub.skerry.io/agent'

/** The fields by which Karmada would reach a cluster. A hub reaches it through a tunnel only. */
const wayFields = [
  'apiEndpoint',
  'impersonatorSecretRef',
  'insecureSkipTLSVerification',
  'proxyHeader',
  'proxyURL',
  'secretRef',
]

/**
 * Removes the address that Karmada's agent always writes, and marks its Cluster. The agent writes the whole
 * status, too, so the hub's own part of it stays.
 */
export const karmadaAgentFields: AdmissionPlugin = {
  name: 'KarmadaAgentFields',
  handles: ({ operation, resource, user }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    resource.group === clusterResource.group &&
    resource.resource === clusterResource.resource &&
    clusterOfAgent(user) !== undefined,
  async admit({ operation, object, oldObject, subresource, warn }) {
    const spec = object?.['spec']
    if (object === undefined || !isJsonObject(spec)) return
    if (subresource !== '') {
      if (oldObject) keepConnected(object, oldObject)
      return
    }
    const given = wayFields.filter((field) => spec[field])
    if (operation === 'CREATE' && given.length > 0) {
      object.metadata.annotations = { ...object.metadata.annotations, [agentKey]: 'karmada-agent' }
    }
    if (!isKarmadas(oldObject ?? object)) return
    for (const field of given) {
      delete spec[field]
      warn(`spec.${field} is not used: the hub does not dial clusters`)
    }
  },
}

function isKarmadas({ metadata }: AnyObject): boolean {
  return metadata.annotations?.[agentKey] === 'karmada-agent'
}

function keepConnected(object: AnyObject, old: AnyObject): void {
  const { status } = object
  if (!isKarmadas(old) || !isJsonObject(status)) return
  const isConnected = ({ type }: JsonObject): boolean => type === conditionTypes.connected
  const others = objectsAt(status, 'conditions').filter((each) => !isConnected(each))
  status['conditions'] = [...others, ...objectsAt(old, 'status', 'conditions').filter(isConnected)]
}

/**
 * Rewrites the target of a request from Karmada's programs. Its agent lists all Clusters and all Services to
 * find its own, so it gets only its own. The certificate and program decide here only what is left out;
 * authorization follows later.
 */
export function karmadaAgentTarget({ target, method, headers, peer }: ApiRequest): string {
  if (peer.type === 'process') return target
  const [path = '', query = ''] = target.split('?', 2)
  const isListed =
    method === 'GET' &&
    (path === clustersPath || path === servicesPath) &&
    headers['user-agent']?.startsWith('karmada-agent/') === true
  const roles = agentRolesTarget({ method, path })
  if (!isListed && roles === undefined) return target
  const user = userOf(peer.certificates[0])
  if (user && roles !== undefined && isRoleGenerator(user)) return roles
  const own = user && clusterOfAgent(user)
  if (own === undefined || !isListed) return target
  if (path === servicesPath) {
    return `/api/v1/namespaces/${executionNamespace(own)}/services${query && `?${query}`}`
  }
  const asked = new URLSearchParams(query)
  if (asked.has('fieldSelector') || asked.has('labelSelector')) return target
  asked.set('fieldSelector', `metadata.name=${own}`)
  return `${path}?${asked.toString()}`
}

const { group, version, resource } = clusterResource
const clustersPath = `/apis/${group}/${version}/${resource}`
const servicesPath = '/api/v1/services'

function userOf(der: Uint8Array | undefined): { name: string; groups: string[] } | undefined {
  if (der === undefined) return undefined
  const lines = new X509Certificate(der).subject.split('\n')
  const values = (key: string): string[] =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1))
  return { name: values('CN')[0] ?? '', groups: values('O') }
}
