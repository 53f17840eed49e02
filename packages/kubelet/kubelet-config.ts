import { ExpectedError, exitCodes } from '@skerry/base'
import type { NodeDirectories } from './pod/pod-paths.ts'

export interface KubeletConfig extends NodeDirectories {
  nodeName: string
  /** Returns the machine's addresses in the cluster, the main one first. They may change. */
  nodeIps: () => readonly string[]
  network: PodNetworkConfig
  registration?: RegistrationConfig
  images?: ImageConfig
  /** The directory of manifests of pods that run without any API server. */
  staticPodDirectory?: string
  seccompDirectory?: string
  /** Ends the pods when the agent is stopped. */
  stopsPodsOnExit?: boolean
}

/** The network of the pods, and their DNS. */
export interface PodNetworkConfig {
  /** An empty list makes pods use the machine's own resolvers. */
  clusterDns?: readonly string[]
  clusterDomain?: string
  resolvConfFile?: string
  /** Used until the node object has a podCIDR, and without a control plane. */
  podCidr?: string
  cniConfDirectory: string
  /** The directory of the system's network plugins. */
  cniBinDirectory?: string
  /**
   * The directory from which containerd takes its plugins. This node fills it, so that pods keep their
   * addresses over a reboot. If empty, containerd uses the system's, and addresses change.
   */
  cniPluginDirectory?: string
  /** Where pods reach the API. If omitted, at the service kubernetes. */
  api?: ApiPlace | undefined
  /** The bridge of the pods, which the node maintains. If empty, another program maintains it. */
  podBridge?: string
}

/** An address of the API that serves this node's pods. */
export interface ApiPlace {
  readonly host: string
  readonly port: number
}

/** The content of the node object. */
export interface RegistrationConfig {
  /** The port at which the API server reaches this node. */
  port?: number
  labels?: Readonly<Record<string, string>>
  taints?: readonly { key: string; value?: string; effect: string }[]
  podsMax?: number
  /** Set aside for the machine itself, e.g. { cpu: '100m', memory: '128Mi' }. */
  reserved?: Readonly<Record<string, string>>
  version?: string
}

export interface ImageConfig {
  /** The sandbox image: never garbage. */
  sandbox?: string
  /** The root of containerd, synced after each pull. */
  directory?: string
}

const kubeletDefaults = Object.freeze({
  network: Object.freeze({
    clusterDns: Object.freeze([]) as readonly string[],
    clusterDomain: 'cluster.local',
    resolvConfFile: '/etc/resolv.conf',
    podCidr: '',
    cniBinDirectory: '/usr/lib/cni',
    cniPluginDirectory: '',
    podBridge: '',
  }),
  registration: Object.freeze({
    port: 10_250,
    labels: Object.freeze({}) as Readonly<Record<string, string>>,
    taints: Object.freeze([]) as readonly { key: string; value?: string; effect: string }[],
    podsMax: 110,
    reserved: Object.freeze({}) as Readonly<Record<string, string>>,
    version: 'v1.36.3',
  }),
  images: Object.freeze({ sandbox: 'localhost/skerry/pause:1', directory: '' }),
  staticPodDirectory: '',
  seccompDirectory: '/var/lib/kubelet/seccomp',
  stopsPodsOnExit: false,
})

export interface ResolvedConfig extends Required<KubeletConfig> {
  network: Required<Omit<PodNetworkConfig, 'api'>> & Pick<PodNetworkConfig, 'api'>
  registration: Required<RegistrationConfig>
  images: Required<ImageConfig>
}

/** Throws ExpectedError for what a person has to put right. */
export function resolveConfig(config: KubeletConfig): ResolvedConfig {
  const resolved = {
    ...kubeletDefaults,
    ...config,
    network: { ...kubeletDefaults.network, ...config.network },
    registration: { ...kubeletDefaults.registration, ...config.registration },
    images: { ...kubeletDefaults.images, ...config.images },
  }
  if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(resolved.nodeName)) {
    throw new ExpectedError(
      `Cannot start node: "${resolved.nodeName}" is not a node name; use lower-case letters, digits, - and .`,
      exitCodes.usage,
    )
  }
  if (resolved.nodeIps().length === 0) {
    throw new ExpectedError(
      'Cannot start node: it has no address; pass its IP in the cluster',
      exitCodes.usage,
    )
  }
  return resolved
}
