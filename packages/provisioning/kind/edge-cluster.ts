import { createHash } from 'node:crypto'
import type { KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import { hubGroup, type ClusterCondition } from '@skerry/fleet-kinds'
import type { BlockWay, JumpStatus } from './block-way.ts'
import type { EdgeOptions, StepPlan } from './edge-options.ts'
import type { GivenSettings } from './node-settings.ts'
import type { Configuration } from './role-options.ts'
import type { ShellFault } from './shell-fault.ts'

/**
 * A hub.skerry.io/v1alpha1 EdgeCluster: machines with an operating system and SSH, of which the hub makes a site
 * with its nodes. Its Secrets and ConfigMaps are in its own namespace.
 */
export interface EdgeCluster extends KubeObject {
  spec: EdgeClusterSpec
  status?: EdgeClusterStatus
}

export interface EdgeClusterSpec extends EdgeOptions {
  /** The name for people. */
  displayName?: string
  /** The name of the Cluster on the hub. If omitted, the object's own name. */
  clusterName?: string
  /** The URL https://host:port at which the machines reach the hub. If omitted, the hub's own address. */
  hubServer?: string
  /** The interface whose first IPv4 address is the machine's in the cluster. If omitted, the one SSH was answered on. */
  networkInterface?: string
  network?: EdgeNetwork
  /** Further names and addresses of the site's API, for its certificate. */
  apiNames?: string[]
  /** The machines of which the cluster is made; none if it is imported. */
  machines: MachineBlock[]
  /** The cluster exists already, and an agent in it connects it to the hub. */
  import?: ClusterImport
  /** Whether masters run pods of users, too. Default: true. False gives them the taint of control planes. */
  mastersTakeWorkloads?: boolean
  /** How clients from outside reach the masters; nodes and agents know all of them. */
  highAvailability?: HighAvailability
  /** Where the site keeps its objects. */
  store?: EdgeStore
  /** The offline package of which the machines are made. If omitted, they use their own mirrors. */
  package?: PackageSource
  files?: CopiedFile[]
  hooks?: Hook[]
  /** The names of steps that are not done, as `Preflight` or `Preflight@10.0.0.11`. Steps of the hub are always done. */
  skipSteps?: string[]
  retry?: RetryLimits
  /** While true, no step begins. The step that runs is finished. */
  paused?: boolean
  deletion?: EdgeDeletion
}

export interface ClusterImport {
  /** The agent applies the hub's Works, for which it may write every object. Default: false. */
  applyWorks?: boolean
  /** Services that the hub may reach, as namespace/name:port. */
  allowServices?: string[]
  /** Machines that the hub may dial, as address:port or network/bits:port. */
  allowDials?: string[]
  /** The image of the agent's container. */
  image?: string
}

/** An offline package that the hub has. */
export interface PackageSource {
  /** sha256:<hex>, the digest of its manifest. */
  digest: string
  /** The Ed25519 public key, in PEM, whose owner must have signed it. */
  publicKey: string
}

export interface EdgeNetwork {
  /** The range of pods' addresses; default 10.42.0.0/16. */
  podCIDR?: string
  /** The range of services' addresses; default 10.43.0.0/16. */
  serviceCIDR?: string
  /** The cluster's DNS domain; default cluster.local. */
  dnsDomain?: string
  /** How many pods a node runs at most; default 110. Each node's share of the pod range follows from it. */
  podsPerNode?: number
}

export interface HighAvailability {
  /**
   * VirtualIP: an address that the masters hold in turn. Balancer: one that somebody else's balancer has. Default: None,
   * the masters' own addresses.
   */
  type?: 'None' | 'VirtualIP' | 'Balancer'
  /** The virtual IP, or the address or name of the balancer. */
  address?: string
  /** The port of the balancer; default 6443. */
  port?: number
  /** The number by which virtual IPs of one network differ, 1 to 255; default: the last number of the address. */
  virtualRouterId?: number
}

export interface EdgeStore {
  /** SQLite: a file of the only master. Etcd: one that the masters run themselves. Default: SQLite. */
  type?: 'SQLite' | 'Etcd'
  /** The time between two heartbeats of etcd; default 100. It may not be changed. */
  heartbeatMilliseconds?: number
}

/** Machines that have everything but their address in common. */
export interface MachineBlock extends BlockWay {
  /** IP addresses and DNS names; `10.0.0.[11-14]` stands for four addresses. */
  addresses: string[]
  /** The port of SSH; default 22. */
  port?: number
  /** The user of SSH; default root. Others need sudo. */
  user?: string
  /** The Secret with password, or ssh-privatekey and, if the key has one, passphrase; and sudo-password. */
  credentials: { name: string }
  /** The fingerprints, SHA256:…, of which the machine must show one. */
  hostKeys?: string[]
  /** Whether the first fingerprint that a machine shows is accepted and kept. Default: false. */
  acceptNewHostKeys?: boolean
  /** Master runs the control plane and a node; Node only a node; Witness votes for two masters. Default: Node. */
  role?: MachineRole
  /** The labels of the nodes. */
  labels?: Record<string, string>
  /** The taints of the nodes. */
  taints?: MachineTaint[]
}

export interface MachineTaint {
  key: string
  value?: string
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

export type MachineRole = 'Master' | 'Node' | 'Witness'

/**
 * The part of a master in the site: it begins it; it joins a site that others have begun; or its member was removed,
 * so that its data is worth nothing. Decided once, so that no second site is ever begun.
 */
export type SitePlace = 'Founds' | 'Joins' | 'Removed'

/** A key of a ConfigMap or Secret that becomes a file on each machine, before the first hook. */
export interface CopiedFile {
  from: { configMap?: string; secret?: string; key: string }
  /** The absolute path on the machine. */
  path: string
  /** The permissions in octal digits; default 0644, and 0600 for Secrets. */
  mode?: string
}

/** A script of a ConfigMap that each machine runs as root, with its own first line. */
export interface Hook {
  when: 'BeforeInstall' | 'AfterInstall'
  configMap: string
  key: string
}

export interface RetryLimits {
  /** How often a step is tried before it has failed; default 10. */
  attempts?: number
}

export interface EdgeDeletion {
  /** Clean removes everything of Skerry from the machines; Keep leaves them running. Default: Clean. */
  machines?: 'Clean' | 'Keep'
}

export type EdgeClusterPhase =
  | 'Pending'
  | 'Running'
  | 'Waiting'
  | 'Paused'
  | 'Cancelled'
  | 'Failed'
  | 'Checked'
  | 'Ready'
  | 'Deleting'

export interface EdgeClusterStatus {
  phase?: EdgeClusterPhase
  observedGeneration?: number
  /** The name of the Cluster on the hub. */
  clusterName?: string
  /** The number of nodes for which the pod range has addresses. */
  nodesMax?: number
  /** The number of services for which the service range has addresses. */
  servicesMax?: number
  /** Both figures in words. */
  capacity?: string
  /** The mode in which the steps were done last. */
  mode?: EdgeOptions['mode']
  /** For the mode Check: every step that Make would do. */
  plan?: StepPlan[]
  machines?: MachineStatus[]
  jumps?: JumpStatus[]
  /** In the order in which they are done. */
  steps?: StepStatus[]
  conditions?: ClusterCondition[]
  /** The version of the program on each machine, by its address. */
  programs?: Record<string, string>
  /** The package to which a job has upgraded the master, since the spec named its own. */
  package?: PackageSource
  /** The options that a job has given to a role on every machine that has it: machines that join later get them, too. */
  configuration?: Configuration
  /** The labels and taints that nodes have from this object, so that they lose those which leave the object. */
  nodeSettings?: GivenSettings[]
}

export interface MachineStatus {
  address: string
  role: MachineRole
  /** The fingerprint that the machine showed and that was accepted. */
  hostKey?: string
  /** The fingerprint that the machine showed and that is not accepted yet. */
  unknownHostKey?: string
  /** Whether a step has changed the machine, so that it must be cleaned one day. */
  isChanged?: boolean
  /** The name of its node: its host name. */
  node?: string
  /** A digest of its machine id, by which a copied disk is found. */
  machineIdDigest?: string
  /** The login as the spec had it last: a machine that leaves is not in the spec any more. */
  login?: MachineLogin
  /** Whether a departure has begun to keep pods off the node. */
  isCordoned?: boolean
  /** Whether the agent of the site may dial it. */
  isDialled?: boolean
  /** Whether a person has said that the machine, which leaves, will never answer again. */
  isDead?: boolean
  site?: SitePlace
  /** The name of its member in the site's etcd, once it votes. */
  member?: string
  /** Whether every step on it was finished once, so that it is part of the cluster. */
  isMade?: boolean
  /** The digests of the settings that its node may have; the last is the one of the spec. */
  given?: string[]
}

/** Where, as whom and on which way the hub logs in to a machine. Secrets are named, and nothing of them is here. */
export interface MachineLogin extends BlockWay {
  user: string
  port: number
  credentials: string
}

export type StepState = 'Waiting' | 'Running' | 'Done' | 'Skipped' | 'Failed' | 'Cancelled'

/** Why a step waits although nothing is wrong: the machine is away, or nobody has confirmed yet. */
export type WaitReason = 'Unreachable' | 'Unconfirmed'

/** One step on one machine, or on the hub. */
export interface StepStatus {
  name: string
  /** The address of the machine; omitted for steps of the whole cluster. */
  machine?: string
  state: StepState
  reason?: WaitReason
  /** Whether an attempt that has not succeeded has reached the machine. Only jobs keep it. */
  isBegun?: boolean
  /** How often it was tried. */
  attempt?: number
  startTime?: string
  finishTime?: string
  /** When it is tried again. */
  nextTime?: string
  /** The error of the last attempt, or the result. */
  message?: string
  /** The last lines that the last attempt printed. */
  output?: string
  /** Everything that the last attempt found wrong, with the remedy of each. */
  findings?: string[]
  /** The reason for which the machine did not obey the last attempt. Omitted for other errors. */
  fault?: ShellFault
  /** A digest of the fields that the step carries out. If they change, it is done again. */
  input?: string
}

export const edgeClusterResource: TypedResource<EdgeCluster> = Object.freeze({
  group: hubGroup,
  version: 'v1alpha1',
  resource: 'edgeclusters',
  isNamespaced: true,
})

/** The label of a Secret that a command has made for the machines of the EdgeCluster that it names. */
export const loginSecretLabel = 'hub.skerry.io/login-of'

/** Set while machines may hold something of the cluster. */
export const edgeClusterFinalizer = 'hub.skerry.io/edge-cluster'

/**
 * The annotations by which a person asks for something; the hub removes each when it has acted. Retry and skip name steps, as
 * `Preflight` or `Preflight@10.0.0.11`, separated by commas; retry also takes `*` for every failed step. The one that pauses
 * is not among them, because it stays.
 */
export const edgeClusterAsks = Object.freeze({
  retry: 'hub.skerry.io/retry',
  skip: 'hub.skerry.io/skip',
  cancel: 'hub.skerry.io/cancel',
  /** `10.0.0.11=SHA256:…`: this machine's host key is accepted and kept; several are separated by commas. */
  acceptHostKeys: 'hub.skerry.io/accept-host-keys',
  /** Addresses that the spec does not name any more, separated by commas: these machines will never answer again. */
  dead: 'hub.skerry.io/dead',
})

/** A fingerprint of a host key, as ssh-keygen -lf prints it. */
export const hostKeyPattern = /^SHA256:[A-Za-z0-9+/]{43}$/

/** Returns a step's name as people write it. */
export function stepText({ name, machine }: Pick<StepStatus, 'name' | 'machine'>): string {
  return machine === undefined ? name : `${name}@${machine}`
}

export function clusterNameOfEdge({ metadata, spec }: EdgeCluster): string {
  return spec.clusterName ?? metadata.name ?? ''
}

/** The most characters in the name of a ConfigMap. */
const nameLength = 253

/** Returns the name of the ConfigMap with the log of a step. */
export function stepLogName(edgeName: string, { name, machine }: StepStatus): string {
  const parts = [edgeName, name.toLowerCase(), ...(machine === undefined ? [] : [machine])]
  const full = parts.join('.')
  if (full.length <= nameLength) return full
  const digest = createHash('sha256').update(full).digest('hex').slice(0, 16)
  return `${full.slice(0, nameLength - digest.length - 1).replace(/[^a-z0-9]+$/, '')}.${digest}`
}
