import { isStatusError, localPath, type AnyObject, type GroupResource } from '@skerry/api'
import { goOnPastUnreadable, type Objects } from '@skerry/apiserver'
import { silentLogger, type Logger } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'

export interface SiteAddresses {
  /** The first address of the service range: the API server's own service. */
  apiServiceIp: string
  /** The range that addresses of services are given out of. */
  serviceCidr: string
  dnsServiceIp: string
  /**
   * The address at which clients in the cluster's network reach this API server; undefined until it starts
   * with one.
   */
  advertiseAddress: string | undefined
  port: number
}

const services: GroupResource = { group: '', resource: 'services' }
const endpoints: GroupResource = { group: '', resource: 'endpoints' }
const slices: GroupResource = { group: 'discovery.k8s.io', resource: 'endpointslices' }
const serviceCidrs: GroupResource = { group: 'networking.k8s.io', resource: 'servicecidrs' }
const storageClasses: GroupResource = { group: 'storage.k8s.io', resource: 'storageclasses' }
const clusterRoles: GroupResource = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }
const clusterRoleBindings: GroupResource = {
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterrolebindings',
}

/**
 * Creates the objects that a site has from its first start, in addition to the API server's own bootstrap
 * objects.
 */
export async function ensureSiteObjects(
  objects: Objects,
  addresses: SiteAddresses,
  log: Pick<Logger, 'error'> = silentLogger,
): Promise<void> {
  const steps: readonly (() => Promise<void>)[] = [
    () => ensure(objects, serviceCidrs, defaultServiceCidr(addresses)),
    () => ensure(objects, services, apiService(addresses)),
    () => publishApiEndpoints(objects, addresses),
    () => ensure(objects, services, dnsService(addresses)),
    () => ensure(objects, storageClasses, localPathClass()),
    // The role is written at each start, because a newer version may have more to read.
    () => put(objects, clusterRoles, nodeNetworkRole()),
    () => ensure(objects, clusterRoleBindings, nodeNetworkBinding()),
    () => ensure(objects, clusterRoleBindings, kubeletAdminBinding()),
    () => ensure(objects, clusterRoles, metricsReaderRole()),
  ]
  for (const step of steps) await goOnPastUnreadable(log, step)
}

async function ensure(objects: Objects, resource: GroupResource, wanted: AnyObject): Promise<void> {
  const { namespace = '', name = '' } = wanted.metadata
  if (objects.get(resource, namespace, name) !== undefined) return
  try {
    await objects.create(resource, wanted)
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}

function defaultServiceCidr({ serviceCidr }: SiteAddresses): AnyObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'kubernetes' },
    spec: { cidrs: [serviceCidr] },
  }
}

function apiService({ apiServiceIp, port }: SiteAddresses): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      type: 'ClusterIP',
      clusterIP: apiServiceIp,
      clusterIPs: [apiServiceIp],
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
    },
  }
}

/** Publishes this server's own address as kube-apiserver does; writes it again when it changed. */
async function publishApiEndpoints(objects: Objects, addresses: SiteAddresses): Promise<void> {
  const { advertiseAddress, port } = addresses
  // Endpoints may not have loopback addresses. The published ones stay: the address may come back.
  if (advertiseAddress === undefined) return
  const ports = [{ name: 'https', port, protocol: 'TCP' }]
  const meta = { name: 'kubernetes', namespace: 'default' }
  await put(objects, endpoints, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { ...meta, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: [{ ip: advertiseAddress }], ports }],
  })
  await put(objects, slices, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...meta, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [advertiseAddress], conditions: { ready: true } }],
    ports,
  })
}

/** Creates the object, or makes an existing one equal to it but for its metadata. */
export async function put(
  objects: Objects,
  resource: GroupResource,
  wanted: AnyObject,
): Promise<void> {
  const { namespace = '', name = '' } = wanted.metadata
  if (objects.get(resource, namespace, name) === undefined) return ensure(objects, resource, wanted)
  await objects.update(resource, { namespace, name }, (object) => {
    const before = JSON.stringify(object)
    const { metadata: _metadata, ...rest } = wanted
    Object.assign(object, rest)
    return JSON.stringify(object) !== before
  })
}

/** Returns the DNS service, which selects no pods: every node answers this address itself (service-proxy). */
function dnsService({ dnsServiceIp }: SiteAddresses): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kube-dns',
      namespace: 'kube-system',
      labels: { 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'CoreDNS' },
    },
    spec: {
      type: 'ClusterIP',
      clusterIP: dnsServiceIp,
      clusterIPs: [dnsServiceIp],
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
        { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
      ],
    },
  }
}

function localPathClass(): AnyObject {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name: 'local-path',
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
    provisioner: localPath.provisioner,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
  }
}

/**
 * Returns the rights of a node's network, policies and local volumes, in addition to the node authorizer's
 * rules. The only thing it may write is the status of a volume, never the volume's place or owner.
 */
function nodeNetworkRole(): AnyObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'skerry:node' },
    rules: [
      {
        apiGroups: [''],
        resources: ['services', 'nodes', 'persistentvolumes'],
        verbs: ['get', 'list', 'watch'],
      },
      // A policy's peers are pods of every node, selected by their labels and those of namespaces. A node
      // reads these of other nodes' pods, with names, addresses and named ports (PodPeer).
      { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['node.skerry.io'], resources: ['pods'], verbs: ['list', 'watch'] },
      {
        apiGroups: ['networking.k8s.io'],
        resources: ['networkpolicies'],
        verbs: ['list', 'watch'],
      },
      {
        apiGroups: ['discovery.k8s.io'],
        resources: ['endpointslices'],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: [''], resources: ['persistentvolumes/status'], verbs: ['patch'] },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests/selfnodeserver'],
        verbs: ['create'],
      },
    ],
  }
}

/** The API server's own client certificate may use every node's logs and sessions. */
function kubeletAdminBinding(): AnyObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'skerry:kubelet-api-admin' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'system:kubelet-api-admin',
    },
    subjects: [
      {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'User',
        name: 'kube-apiserver-kubelet-client',
      },
    ],
  }
}

/** Returns metrics-server's role: a user who may view a namespace may see its pods' usage. */
function metricsReaderRole(): AnyObject {
  const aggregate = (role: string): [string, string] => [
    `rbac.authorization.k8s.io/aggregate-to-${role}`,
    'true',
  ]
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: 'system:aggregated-metrics-reader',
      labels: Object.fromEntries(['admin', 'edit', 'view'].map(aggregate)),
    },
    rules: [
      {
        apiGroups: ['metrics.k8s.io'],
        resources: ['pods', 'nodes'],
        verbs: ['get', 'list', 'watch'],
      },
    ],
  }
}

function nodeNetworkBinding(): AnyObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'skerry:node' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'skerry:node' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' }],
  }
}

/** Resolves with the address at which a site's nodes reach its API server: the one that it published. */
export async function advertisedServer(
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<string> {
  const found = await cluster
    .resource(resources.endpoints)
    .get({ namespace: 'default', name: 'kubernetes' }, signal)
  const subset = found.subsets?.[0]
  return `https://${subset?.addresses?.[0]?.ip ?? '127.0.0.1'}:${subset?.ports?.[0]?.port ?? 6443}`
}
