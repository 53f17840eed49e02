import { localPath, type AnyObject, type GroupResource } from '@skerry/api'
import { goOnPastUnreadable, type Objects } from '@skerry/apiserver'
import { silentLogger, type Logger } from '@skerry/base'
import { serviceBalancer } from '@skerry/service-proxy'
import { ensureObject, putObject } from './put-object.ts'

export interface SiteAddresses {
  /** The first address of the service range: the API server's own service. */
  apiServiceIp: string
  /** The range that addresses of services are given out of. */
  serviceCidr: string
  dnsServiceIp: string
  port: number
}

const services: GroupResource = { group: '', resource: 'services' }
const serviceCidrs: GroupResource = { group: 'networking.k8s.io', resource: 'servicecidrs' }
const storageClasses: GroupResource = { group: 'storage.k8s.io', resource: 'storageclasses' }
const clusterRoles: GroupResource = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }
const roles: GroupResource = { group: 'rbac.authorization.k8s.io', resource: 'roles' }
const roleBindings: GroupResource = { group: 'rbac.authorization.k8s.io', resource: 'rolebindings' }
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
    () => ensureObject(objects, serviceCidrs, defaultServiceCidr(addresses)),
    () => ensureObject(objects, services, apiService(addresses)),
    () => ensureObject(objects, services, dnsService(addresses)),
    () => ensureObject(objects, storageClasses, localPathClass()),
    // The role is written at each start, because a newer version may have more to read.
    () => putObject(objects, clusterRoles, nodeNetworkRole()),
    () => ensureObject(objects, clusterRoleBindings, nodeNetworkBinding()),
    () => putObject(objects, roles, serviceAddressesRole()),
    () => ensureObject(objects, roleBindings, serviceAddressesBinding()),
    () => ensureObject(objects, clusterRoleBindings, kubeletAdminBinding()),
    () => ensureObject(objects, clusterRoles, metricsReaderRole()),
  ]
  for (const step of steps) await goOnPastUnreadable(log, step)
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
 * rules. It may write the status of a volume, never the volume's place or owner, and report a conflict, but not settle
 * it.
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
        apiGroups: ['node.skerry.io'],
        resources: ['offlinewrites'],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: ['node.skerry.io'], resources: ['conflicts'], verbs: ['create'] },
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

/** Returns the right of nodes to read which of them announces which address of a service. */
function serviceAddressesRole(): AnyObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { namespace: serviceBalancer.leaseNamespace, name: 'skerry:service-addresses' },
    rules: [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list', 'watch'] },
    ],
  }
}

function serviceAddressesBinding(): AnyObject {
  const { leaseNamespace: namespace } = serviceBalancer
  const apiGroup = 'rbac.authorization.k8s.io'
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { namespace, name: 'skerry:service-addresses' },
    roleRef: { apiGroup, kind: 'Role', name: 'skerry:service-addresses' },
    subjects: [{ apiGroup, kind: 'Group', name: 'system:nodes' }],
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
