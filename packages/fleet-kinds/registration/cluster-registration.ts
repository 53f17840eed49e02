import {
  checkDnsLabel,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type AnyObject,
  type KubeObject,
  type Kind,
  type Schema,
  type StatusCause,
} from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import { hubKind } from '../access/hub-kind.ts'
import { placeCauses, type AgentPlace } from './agent-place.ts'
import { wayCauses, type AgentWay } from './agent-way.ts'
import { parseAllowedDial } from './allowed-dial.ts'
import { parseAllowedService } from './allowed-service.ts'
import { fleetKindsBounds } from '../limits-table.ts'

/**
 * A hub.skerry.io/v1alpha1 ClusterRegistration: requests what one cluster needs to register. It is answered
 * and never stored, because its answer holds a token.
 */
export interface ClusterRegistration extends KubeObject {
  spec: ClusterRegistrationSpec
  status?: ClusterRegistrationStatus
}

export interface ClusterRegistrationSpec extends AgentWay, AgentPlace {
  /** Name that the cluster will have on the hub. */
  clusterName: string
  /** The URL https://host:port at which the agent dials the hub. If omitted, the hub's own address. */
  server?: string
  /** The lifetime of the token; default 86400, at most a year. */
  ttlSeconds?: number
  /** A person accepts the agent on the hub. */
  needsAcceptance?: boolean
  /** The image of the agent's container, for the manifest. */
  image?: string
  allowUsers?: string[]
  allowGroups?: string[]
  /** The agent acts for system:masters, too. */
  allowMasters?: boolean
  /** Services that the hub may reach, as namespace/name:port. If omitted, none. */
  allowServices?: string[]
  /** Machines that the hub may dial, as address:port or network/bits:port. If omitted, none. */
  allowDials?: string[]
  /** The agent applies the Works that the hub has for the cluster: it may write every object there. */
  applyWorks?: boolean
  /** The manifest gives the hub the right to remove the agent from the cluster. */
  hubMayRemove?: boolean
  /** Whether the agent may register groups of its nodes as virtual clusters, and apply their Works. */
  virtualClusters?: boolean
  /** The systems whose applications in groups of nodes the agent serves in the cluster. If omitted, none. */
  edgeApps?: string[]
}

export interface ClusterRegistrationStatus {
  server: string
  token: string
  caHash: string
  /** RFC 3339. */
  expires: string
  /** The command for a machine that reaches the cluster's API server. */
  command: string
  /** The YAML for `kubectl apply -f -` in the cluster itself. */
  manifest: string
}

export const registrationResource: TypedResource<ClusterRegistration> = Object.freeze({
  group: 'hub.skerry.io',
  version: 'v1alpha1',
  resource: 'clusterregistrations',
  isNamespaced: false,
})

const { ttlSecondsMax, nameCharsMax } = fleetKindsBounds.clusterRegistration

/** The systems whose applications an agent can serve. */
const edgeSystemNames: readonly string[] = Object.freeze(['superedge', 'kubeedge', 'openyurt'])

const text: Schema = { type: 'string' }
const texts: Schema = { type: 'array', items: text }
const schemaPrefix = 'io.skerry.hub.v1alpha1'
const schemaName = `${schemaPrefix}.ClusterRegistration`
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

const spec: Schema = {
  type: 'object',
  required: ['clusterName'],
  properties: {
    clusterName: { ...text, default: '' },
    server: text,
    ttlSeconds: { type: 'integer', format: 'int64' },
    needsAcceptance: { type: 'boolean' },
    image: text,
    allowUsers: texts,
    allowGroups: texts,
    allowMasters: { type: 'boolean' },
    allowServices: texts,
    allowDials: texts,
    applyWorks: { type: 'boolean' },
    virtualClusters: { type: 'boolean' },
    edgeApps: texts,
    hubMayRemove: { type: 'boolean' },
    proxy: text,
    proxyCredentials: { type: 'boolean' },
    inspectedTls: { type: 'boolean' },
    provider: text,
    region: text,
    zones: texts,
    labels: { type: 'object', additionalProperties: text },
  },
}

const status: Schema = {
  type: 'object',
  properties: {
    server: text,
    token: text,
    caHash: text,
    expires: text,
    command: text,
    manifest: text,
  },
}

/** Returns the kind for an API server. Its schemas refer to the built-in kinds' metadata. */
export function clusterRegistrationKind(builtin: readonly Kind[]): Kind {
  const own = (name: string): Schema => ({ ref: `${schemaPrefix}.${name}` })
  return hubKind(
    {
      kind: 'ClusterRegistration',
      resource: registrationResource.resource,
      singular: 'clusterregistration',
      verbs: ['create'],
      schemaName,
      schemas: {
        [schemaName]: {
          type: 'object',
          required: ['spec'],
          properties: {
            apiVersion: text,
            kind: text,
            metadata: { ref: meta, default: {} },
            spec: { ...own('ClusterRegistrationSpec'), default: {} },
            status: { ...own('ClusterRegistrationStatus'), default: {} },
          },
        },
        [`${schemaPrefix}.ClusterRegistrationSpec`]: spec,
        [`${schemaPrefix}.ClusterRegistrationStatus`]: status,
      },
      columns: [],
      strategy: { validate: (object) => registrationCauses(registrationOf(object)) },
    },
    builtin,
  )
}

/** Casts an object that was decoded as this kind. */
export function registrationOf(object: AnyObject): ClusterRegistration {
  // The registry hands a strategy and a review only objects of their kind, checked by its schema.
  return object as unknown as ClusterRegistration
}

export function registrationCauses({ spec: asked }: ClusterRegistration): StatusCause[] {
  const { clusterName, server, ttlSeconds, image } = asked
  const causes: StatusCause[] = []
  if (clusterName === '') causes.push(fieldRequired('spec.clusterName'))
  else {
    const why = checkDnsLabel(clusterName)
    if (clusterName.length > nameCharsMax) {
      why.push(`must be no more than ${nameCharsMax} characters`)
    }
    causes.push(...why.map((each) => fieldInvalid('spec.clusterName', clusterName, each)))
  }
  if (server !== undefined && !isHubUrl(server)) {
    causes.push(fieldInvalid('spec.server', server, 'must be https://<host>[:<port>]'))
  }
  if (ttlSeconds !== undefined && !(ttlSeconds >= 1 && ttlSeconds <= ttlSecondsMax)) {
    causes.push(fieldInvalid('spec.ttlSeconds', ttlSeconds, `must be from 1 to ${ttlSecondsMax}`))
  }
  if (image !== undefined && !/^\w[\w.:/@-]{0,511}$/.test(image)) {
    causes.push(fieldInvalid('spec.image', image, 'must be the reference of an image'))
  }
  const names = [...(asked.allowUsers ?? []), ...(asked.allowGroups ?? [])]
  const odd = names.find((name) => name === '' || name.length > 512 || /\p{Cc}/u.test(name))
  if (odd !== undefined) {
    causes.push(fieldInvalid('spec.allowUsers', odd, 'names have 1 to 512 printable characters'))
  }
  for (const [at, service] of (asked.allowServices ?? []).entries()) {
    if (parseAllowedService(service)) continue
    const why =
      'must be namespace/name:port, where * may stand for name or port, or anywhere=namespace/name:port'
    causes.push(fieldInvalid(`spec.allowServices[${at}]`, service, why))
  }
  for (const [at, dial] of (asked.allowDials ?? []).entries()) {
    if (parseAllowedDial(dial)) continue
    const why = 'must be <address>[/<bits>]:<port>, such as 10.0.0.0/24:22'
    causes.push(fieldInvalid(`spec.allowDials[${at}]`, dial, why))
  }
  for (const [at, system] of (asked.edgeApps ?? []).entries()) {
    if (edgeSystemNames.includes(system)) continue
    causes.push(fieldNotSupported(`spec.edgeApps[${at}]`, system, edgeSystemNames))
  }
  causes.push(...wayCauses(asked), ...placeCauses(asked))
  return causes
}

/**
 * The value is printed into a command line that people paste, so it must contain nothing that a shell
 * interprets.
 */
function isHubUrl(value: string): boolean {
  return /^https:\/\/(\[[\da-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?\/?$/.test(value)
}
