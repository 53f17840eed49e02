import type { Pod } from '@skerry/api'
import type { RunningKubelet } from '@skerry/kubelet'
import { serviceBalancer, type NodeBalancing, type UsedPort } from '@skerry/service-proxy'

/** A node's part in balancing services, as its kubelet and its service network need it. */
export interface NodePorts extends NodeBalancing {
  /** Returns the annotation of the node that lists used ports which balancers want. */
  annotations(): Record<string, string | null>
}

/** Connects the kubelet, which knows the pods, with the service network. */
export function createNodePorts(
  running: () => Pick<RunningKubelet, 'pods' | 'report'> | undefined,
): NodePorts {
  let used: readonly string[] = []
  return {
    hostPorts: () => (running()?.pods.list() ?? []).flatMap(hostPortsOf),
    onUsedPorts(ports) {
      used = ports
      running()?.report()
    },
    annotations: () => ({
      [serviceBalancer.usedPorts]: used.length === 0 ? null : used.join(','),
    }),
  }
}

/** A pod on the host's network listens by itself. */
function hostPortsOf({ metadata, spec, status }: Pod): UsedPort[] {
  if (spec?.hostNetwork === true || status?.phase === 'Succeeded' || status?.phase === 'Failed')
    return []
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  const by = `pod ${metadata.namespace}/${metadata.name}`
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP = '', protocol = 'TCP' }): UsedPort[] =>
      hostPort === 0
        ? []
        : [
            {
              protocol: protocol === 'UDP' ? 'udp' : protocol === 'SCTP' ? 'sctp' : 'tcp',
              port: hostPort,
              address: hostIP === '' || hostIP === '0.0.0.0' ? undefined : hostIP,
              by,
            },
          ],
    ),
  )
}
