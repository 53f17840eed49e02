import type { AnyObject } from '@skerry/api'
import {
  allowedServiceText,
  type AllowedService,
  placeArguments,
  type AgentPlace,
  podWay,
  type AgentWay,
} from '@skerry/fleet-kinds'
import {
  impersonationRules,
  reportingRules,
  serviceRules,
  type ImpersonationPolicy,
} from '../rights/impersonation-policy.ts'
import { edgeAppsRules } from '../rights/edge-apps-rules.ts'
import { workRules } from '../rights/work-rules.ts'
import { agentNamespace, agentObjectName, removalRights } from './agent-removal.ts'

/** The changes that an agent makes in its cluster. */
interface ManifestDuties {
  /** Whether the agent applies the hub's Works. */
  readonly appliesWorks: boolean
  /** The systems whose applications in groups of nodes the agent serves. Default: none. */
  readonly edgeApps?: readonly string[]
  /** Whether groups of its nodes are virtual clusters; default: no. */
  readonly hasVirtualClusters?: boolean
}

/** The configuration of one agent of one cluster. */
export interface AgentManifestOptions extends ManifestDuties {
  readonly cluster: string
  /** The hub's URL, https://host:port. */
  readonly server: string
  readonly caHash: string
  readonly token: string
  /** The image of the agent's container. */
  readonly image: string
  readonly policy: ImpersonationPolicy
  /** The services that the hub may reach. */
  readonly services: readonly AllowedService[]
  /** Rights of the hub itself. Default: none. */
  readonly hub?: HubRights
  /** The way to the hub. Default: direct, or as the environment sets it. */
  readonly way?: AgentWay
  /** The cluster's place. If omitted, the agent reports none. */
  readonly place?: AgentPlace
}

interface HubRights {
  /** The machines that it may dial, as --allow-dial takes them. */
  readonly dials?: readonly string[]
  /** Whether it may remove the agent. */
  readonly mayRemove?: boolean
}

/** The Secret that keeps the agent's identity when the pod is replaced. */
const agentIdentitySecret = 'skerry-agent-identity'

const name = agentObjectName
const rbac = 'rbac.authorization.k8s.io'
const labels = Object.freeze({ 'app.kubernetes.io/name': name })
/** A user id that nobody has on the machine, and not root. */
const userId = 65_532
const probePort = 8_081

/** Returns all objects of an agent of a cluster, in the order in which they are applied. */
export function agentManifest(options: AgentManifestOptions): AnyObject[] {
  const metadata = { name, namespace: agentNamespace, labels: { ...labels } }
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: agentNamespace,
        labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' },
      },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, name: `${name}-token` },
      stringData: { token: options.token },
    },
    // The Secret is empty here: the agent fills it, and may access no other.
    { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name: agentIdentitySecret } },
    ...clusterRights(options),
    ...(options.hub?.mayRemove === true ? removalRights(labels) : []),
    ...identityRights(metadata),
    deployment(metadata, options),
  ]
}

function clusterRights({
  cluster,
  policy,
  services,
  appliesWorks,
  edgeApps = [],
  hasVirtualClusters = false,
}: AgentManifestOptions): AnyObject[] {
  const metadata = { name, labels: { ...labels } }
  const finding = services.length === 0 ? [] : serviceRules
  const writing = appliesWorks || hasVirtualClusters ? workRules : []
  const rules = [...impersonationRules(policy), ...reportingRules, ...finding, ...writing]
  rules.push(...edgeAppsRules(edgeApps, cluster))
  return [
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: agentNamespace }],
    },
  ]
}

function identityRights(metadata: AnyObject['metadata']): AnyObject[] {
  const verbs = ['get', 'patch']
  const resourceNames = [agentIdentitySecret]
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames, verbs }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: agentNamespace }],
    },
  ]
}

function deployment(metadata: AnyObject['metadata'], options: AgentManifestOptions): AnyObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: 1,
      selector: { matchLabels: { ...labels } },
      template: {
        metadata: { labels: { ...labels } },
        spec: {
          serviceAccountName: name,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: userId,
            runAsGroup: userId,
            fsGroup: userId,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [container(options)],
          volumes: [
            { name: 'token', secret: { secretName: `${name}-token`, optional: true } },
            { name: 'data', emptyDir: {} },
            { name: 'tmp', emptyDir: {} },
            ...podWay(options.way ?? {}).volumes,
          ],
        },
      },
    },
  }
}

function container(options: AgentManifestOptions) {
  const probe = (path: string) => ({
    httpGet: { path, port: probePort },
    periodSeconds: 10,
    timeoutSeconds: 5,
  })
  return {
    name: 'agent',
    image: options.image,
    imagePullPolicy: 'IfNotPresent',
    args: agentArguments(options),
    ports: [{ name: 'probes', containerPort: probePort }],
    livenessProbe: { ...probe('/livez'), failureThreshold: 6 },
    readinessProbe: probe('/readyz'),
    resources: {
      requests: { cpu: '20m', memory: '96Mi' },
      limits: { memory: '512Mi' },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'token', mountPath: '/var/run/skerry-token', readOnly: true },
      { name: 'data', mountPath: '/var/lib/skerry/agent' },
      { name: 'tmp', mountPath: '/tmp' },
      ...podWay(options.way ?? {}).volumeMounts,
    ],
  }
}

function agentArguments(options: AgentManifestOptions): string[] {
  const { cluster, server, caHash, policy, services } = options
  const flags = (flag: string, values: readonly string[] = []) =>
    values.map((value) => `--${flag}=${value}`)
  return [
    'agent',
    `--hub=${server}`,
    `--name=${cluster}`,
    `--ca-hash=${caHash}`,
    '--token-file=/var/run/skerry-token/token',
    '--data-dir=/var/lib/skerry/agent',
    `--identity-secret=${agentNamespace}/${agentIdentitySecret}`,
    `--probe-port=${probePort}`,
    ...flags('allow-user', policy.users),
    ...flags('allow-group', policy.groups),
    ...flags('deny-group', policy.deniedGroups),
    ...flags('allow-service', services.map(allowedServiceText)),
    ...flags('allow-dial', options.hub?.dials),
    ...(options.appliesWorks ? ['--apply-works'] : []),
    ...(options.hasVirtualClusters === true ? ['--virtual-clusters'] : []),
    ...((options.edgeApps ?? []).length > 0 ? [`--edge-apps=${options.edgeApps?.join(',')}`] : []),
    ...placeArguments(options.place ?? {}),
    ...podWay(options.way ?? {}).args,
  ]
}
