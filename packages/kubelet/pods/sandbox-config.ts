import type { Pod } from '@skerry/api'
import type { DnsConfig, PodSandboxConfig, PortMapping } from '../cri/container-runtime.ts'
import { podDomain, podHostname } from './hosts-file.ts'
import { specOf } from '../pod/pod-spec.ts'
import { runtimeAnnotations, runtimeLabels } from './runtime-labels.ts'
import { sandboxSecurityContext } from './security-context.ts'

export interface SandboxInput {
  pod: Pod
  attempt: number
  logDirectory: string
  cgroupParent: string
  dns: DnsConfig
  clusterDomain: string
  bootId: string
}

export function sandboxConfig(input: SandboxInput): PodSandboxConfig {
  const { pod } = input
  const { name = '', namespace = '', uid = '', labels, annotations } = pod.metadata
  const spec = specOf(pod)
  const { sysctls = [] } = spec.securityContext ?? {}
  return {
    metadata: { name, namespace, uid, attempt: input.attempt },
    hostname: hostnameOf(pod, input.clusterDomain),
    logDirectory: input.logDirectory,
    dnsConfig: input.dns,
    portMappings: portMappings(pod),
    labels: {
      ...labels,
      [runtimeLabels.podName]: name,
      [runtimeLabels.podNamespace]: namespace,
      [runtimeLabels.podUid]: uid,
    },
    annotations: {
      ...annotations,
      [runtimeAnnotations.bootId]: input.bootId,
      [runtimeAnnotations.hostNetwork]: String(spec.hostNetwork === true),
    },
    linux: {
      cgroupParent: input.cgroupParent,
      securityContext: sandboxSecurityContext(pod),
      sysctls: Object.fromEntries(sysctls.map((sysctl) => [sysctl.name, sysctl.value])),
    },
  }
}

/** Returns an empty string on the host's network, where the host keeps its own name. */
function hostnameOf(pod: Pod, clusterDomain: string): string {
  const { hostNetwork, setHostnameAsFQDN } = specOf(pod)
  if (hostNetwork) return ''
  const domain = podDomain(pod, clusterDomain)
  return setHostnameAsFQDN && domain ? `${podHostname(pod)}.${domain}` : podHostname(pod)
}

function portMappings(pod: Pod): PortMapping[] {
  const spec = specOf(pod)
  if (spec.hostNetwork) return []
  const containers = [...(spec.initContainers ?? []), ...spec.containers]
  return containers
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ containerPort, hostPort = 0, hostIP = '', protocol = 'TCP' }) => ({
      protocol: protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP',
      containerPort,
      hostPort,
      hostIp: hostIP,
    }))
}
