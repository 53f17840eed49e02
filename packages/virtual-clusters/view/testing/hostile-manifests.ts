/** Manifests with references out of their virtual cluster, in every place that the mapping knows. */
import { isJsonObject, type JsonObject } from '@skerry/api'
import { groupLabel, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { podTemplatePaths } from '../../mapping/pod-spec.ts'
import {
  kindReferences,
  podReferences,
  type References,
  type ReferenceSort,
} from '../../mapping/reference-table.ts'

export interface HostileManifest {
  /** A description such as `apps/Deployment: all that is mapped`. */
  readonly what: string
  readonly of: ServedKind
  /** The manifest without and with the references. */
  readonly plain: JsonObject
  readonly hostile: JsonObject
  /** The mapping refuses it; else it gives each thing another name. */
  readonly isRefused: boolean
}

export interface ServedKind {
  readonly groupKind: string
  readonly apiVersion: string
  readonly resource: string
}

/** Names, namespaces and labels of a sibling: none of these texts may occur in an object at the edge. */
const foreignTexts: ReadonlySet<string> = new Set([
  '/west',
  '198.51.100.7',
  'db.shop-west.svc',
  'node-west',
  'pvc-west',
  'shop-west',
  'system:serviceaccount:shop-west:a',
  'system:serviceaccounts',
  'system:serviceaccounts:shop-west',
  'west',
])

const rbac = 'rbac.authorization.k8s.io'
const ofWest = { matchLabels: { [virtualNamespaceLabels.cluster]: 'west' } }

const hostileValues: Readonly<Record<ReferenceSort, readonly unknown[]>> = {
  namespace: ['shop-west'],
  ownName: ['pvc-west'],
  hostName: ['db.shop-west.svc'],
  namespaceSelector: [ofWest],
  peers: [[{ namespaceSelector: ofWest }]],
  subject: [
    { kind: 'ServiceAccount', name: 'a', namespace: 'shop-west' },
    { apiGroup: rbac, kind: 'User', name: 'system:serviceaccount:shop-west:a' },
    { apiGroup: rbac, kind: 'Group', name: 'system:serviceaccounts:shop-west' },
  ],
  allowedRoutes: [{ from: 'Selector', selector: ofWest }],
}

const claimSpec: JsonObject = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
}
const containers = [{ name: 'a', image: 'a:1' }]
const onFailure = { restartPolicy: 'Never' }
const selected = { selector: { matchLabels: { app: 'a' } } }
const target = { kind: 'Pod', name: 'a' }
const otherClaim = { kind: 'PersistentVolumeClaim', name: 'b' }
const term = { topologyKey: 'a', labelSelector: {} }
const eventTime = '2026-01-01T00:00:00.000000Z'

const template = (more: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: 'a' } },
  spec: { containers, ...more },
})

/** The content that the API requires of each kind, apart from the references. Keys are group and kind. */
const plainContents: Readonly<
  Record<string, readonly [version: string, resource: string, content: JsonObject]>
> = {
  '/Endpoints': ['v1', 'endpoints', {}],
  '/Event': ['v1', 'events', { involvedObject: { ...target, namespace: 'shop' }, type: 'Normal' }],
  '/PersistentVolumeClaim': ['v1', 'persistentvolumeclaims', { spec: claimSpec }],
  '/Pod': ['v1', 'pods', { spec: { containers } }],
  '/PodTemplate': ['v1', 'podtemplates', { template: template() }],
  '/ReplicationController': [
    'v1',
    'replicationcontrollers',
    { spec: { selector: { app: 'a' }, template: template() } },
  ],
  '/Service': ['v1', 'services', { spec: { type: 'ExternalName', externalName: 'example.com' } }],
  '/ServiceAccount': ['v1', 'serviceaccounts', {}],
  'apps/DaemonSet': ['v1', 'daemonsets', { spec: { ...selected, template: template() } }],
  'apps/Deployment': ['v1', 'deployments', { spec: { ...selected, template: template() } }],
  'apps/ReplicaSet': ['v1', 'replicasets', { spec: { ...selected, template: template() } }],
  'apps/StatefulSet': [
    'v1',
    'statefulsets',
    { spec: { ...selected, serviceName: 'a', template: template() } },
  ],
  'batch/CronJob': [
    'v1',
    'cronjobs',
    {
      spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: template(onFailure) } } },
    },
  ],
  'batch/Job': ['v1', 'jobs', { spec: { template: template(onFailure) } }],
  'discovery.k8s.io/EndpointSlice': ['v1', 'endpointslices', { addressType: 'IPv4' }],
  'events.k8s.io/Event': [
    'v1',
    'events',
    {
      regarding: { ...target, namespace: 'shop' },
      type: 'Normal',
      eventTime,
      action: 'a',
      reason: 'a',
      reportingController: 'a/b',
      reportingInstance: 'a',
    },
  ],
  'gateway.networking.k8s.io/Gateway': ['v1', 'gateways', {}],
  'gateway.networking.k8s.io/GRPCRoute': ['v1', 'grpcroutes', {}],
  'gateway.networking.k8s.io/HTTPRoute': ['v1', 'httproutes', {}],
  'gateway.networking.k8s.io/ReferenceGrant': ['v1', 'referencegrants', {}],
  'gateway.networking.k8s.io/TCPRoute': ['v1', 'tcproutes', {}],
  'gateway.networking.k8s.io/TLSRoute': ['v1', 'tlsroutes', {}],
  'gateway.networking.k8s.io/UDPRoute': ['v1', 'udproutes', {}],
  'networking.k8s.io/NetworkPolicy': ['v1', 'networkpolicies', { spec: { podSelector: {} } }],
  [`${rbac}/RoleBinding`]: [
    'v1',
    'rolebindings',
    { roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' } },
  ],
}

/**
 * The members that the API requires of an object with a reference. Keys are paths, below a pod's spec or in
 * the kind.
 */
const siblings: Readonly<Record<string, JsonObject>> = {
  'affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.*': term,
  'affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution.*': { weight: 1 },
  'affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm': term,
  'affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.*': term,
  'affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.*': { weight: 1 },
  'affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm':
    term,
  'volumes.*': { name: 'a' },
  'volumes.*.ephemeral.volumeClaimTemplate.spec': claimSpec,
  'volumes.*.ephemeral.volumeClaimTemplate.spec.dataSourceRef': otherClaim,
  'spec.dataSourceRef': otherClaim,
  'spec.volumeClaimTemplates.*': { metadata: { name: 'data' } },
  'spec.volumeClaimTemplates.*.spec': claimSpec,
  'spec.volumeClaimTemplates.*.spec.dataSourceRef': otherClaim,
  'subsets.*': { ports: [{ port: 80 }] },
  'subsets.*.addresses.*': { ip: '10.1.0.1' },
  'subsets.*.addresses.*.targetRef': target,
  'subsets.*.notReadyAddresses.*': { ip: '10.1.0.2' },
  'subsets.*.notReadyAddresses.*.targetRef': target,
  'secrets.*': { name: 'a' },
  'endpoints.*': { addresses: ['10.1.0.1'] },
  'endpoints.*.targetRef': target,
  related: target,
}

/** The fields that no pod of a virtual cluster may have. */
const refusedOfPods: Readonly<Record<string, JsonObject>> = {
  nodeName: { nodeName: 'node-west' },
  nodeSelector: { nodeSelector: { [groupLabel]: 'west' } },
  hostPath: { volumes: [{ name: 'a', hostPath: { path: '/west' } }] },
}

const refusedOfKinds: readonly (readonly [groupKind: string, field: string, more: JsonObject])[] = [
  [
    `${rbac}/RoleBinding`,
    'every account',
    { subjects: [{ apiGroup: rbac, kind: 'Group', name: 'system:serviceaccounts' }] },
  ],
  ['/Service', 'externalIPs', { spec: { ports: [{ port: 80 }], externalIPs: ['198.51.100.7'] } }],
  [
    'gateway.networking.k8s.io/Gateway',
    'addresses',
    { spec: { addresses: [{ value: '198.51.100.7' }] } },
  ],
]

/** A view only shows these, and Works of them have their own tests. */
const withoutNamespace: ReadonlySet<string> = new Set([
  '/PersistentVolume',
  `${rbac}/ClusterRoleBinding`,
])

/** The kinds in which the mapping knows references to namespaced objects. */
export const referringKinds: readonly string[] = [
  ...new Set([...Object.keys(kindReferences), ...Object.keys(podTemplatePaths)]),
].filter((groupKind) => !withoutNamespace.has(groupKind))

/** Returns one manifest for everything that is mapped in a kind, and one for each refused part. */
export function hostileManifests(): HostileManifest[] {
  const mapped = referringKinds.map((groupKind) => {
    const { of, plain } = plainOf(groupKind)
    const all = withReferences(plain, kindReferences[groupKind] ?? {}, '')
    const hostile = (podTemplatePaths[groupKind] ?? []).reduce(
      (object, path) => withReferences(object, podReferences, specBelow(path)),
      all,
    )
    return { what: `${groupKind}: all that is mapped`, of, plain, hostile, isRefused: false }
  })
  const pods = Object.entries(podTemplatePaths).flatMap(([groupKind, paths]) =>
    Object.entries(refusedOfPods).map(([field, more]) => {
      const { of, plain } = plainOf(groupKind)
      const hostile = paths.reduce((object, path) => withSpec(object, specBelow(path), more), plain)
      return { what: `${groupKind}: ${field}`, of, plain, hostile, isRefused: true }
    }),
  )
  const kinds = refusedOfKinds.map(([groupKind, field, more]) => {
    const { of, plain } = plainOf(groupKind)
    return {
      what: `${groupKind}: ${field}`,
      of,
      plain,
      hostile: { ...plain, ...more },
      isRefused: true,
    }
  })
  return [...mapped, ...pods, ...kinds]
}

/** Each text of a value that names something of a sibling. */
export function foreignIn(value: unknown): string[] {
  if (typeof value === 'string') return foreignTexts.has(value) ? [value] : []
  if (Array.isArray(value)) return value.flatMap(foreignIn)
  return isJsonObject(value) ? Object.values(value).flatMap(foreignIn) : []
}

function plainOf(groupKind: string): { of: ServedKind; plain: JsonObject } {
  const found = plainContents[groupKind]
  if (!found) throw new Error(`Cannot write ${groupKind}: add what it needs to plainContents`)
  const [version, resource, plain] = found
  const group = groupKind.slice(0, groupKind.indexOf('/'))
  const apiVersion = group === '' ? version : `${group}/${version}`
  return { of: { groupKind, apiVersion, resource }, plain }
}

const specBelow = (templatePath: string): string =>
  templatePath === '' ? 'spec' : `${templatePath}.spec`

function withSpec(object: JsonObject, path: string, more: JsonObject): JsonObject {
  const copy = structuredClone(object)
  let spec: JsonObject = copy
  // Each step leads to an object: the plain contents have a pod's spec there.
  for (const step of path.split('.')) spec = spec[step] as JsonObject
  Object.assign(spec, more)
  return copy
}

function withReferences(object: JsonObject, references: References, below: string): JsonObject {
  const copy = structuredClone(object)
  for (const [path, sort] of Object.entries(references)) {
    const values = hostileValues[sort]
    put(copy, { steps: below === '' ? [] : below.split('.'), path: path.split('.'), values })
  }
  return copy
}

interface Placed {
  /** The steps before the path for which siblings are known. */
  readonly steps: readonly string[]
  readonly path: readonly string[]
  readonly values: readonly unknown[]
}

function put(object: JsonObject, { steps, path, values }: Placed): void {
  let at: JsonObject = object
  for (const step of steps) at = memberOf(at, step, {})
  for (let index = 0; index < path.length; index += 1) {
    const step = path[index] ?? ''
    const isLast = index === path.length - 1
    const isList = path[index + 1] === '*'
    if (isLast) {
      at[step] = values[0]
      return
    }
    if (!isList) {
      at = memberOf(at, step, siblings[path.slice(0, index + 1).join('.')])
      continue
    }
    index += 1
    if (index === path.length - 1) {
      at[step] = [...values]
      return
    }
    const list = (at[step] ??= [{ ...siblings[path.slice(0, index + 1).join('.')] }])
    // This function has made the list, of objects.
    at = (list as JsonObject[])[0] ?? {}
  }
}

function memberOf(object: JsonObject, step: string, made: JsonObject = {}): JsonObject {
  const member = (object[step] ??= structuredClone(made))
  // Every step on the way to a reference is an object.
  return member as JsonObject
}
