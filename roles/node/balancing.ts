import type { Pod } from '@skerry/api'
import { createWakeFlag, type Clock } from '@skerry/base'
import type { LeaseNotes, RunningKubelet } from '@skerry/kubelet'
import { serviceBalancer, type NodeBalancing, type UsedPort } from '@skerry/service-proxy'
import { nodeBounds } from './limits-table.ts'

/** A node's part in balancing services, as its kubelet and its service network need it. */
export interface NodePorts extends NodeBalancing {
  /** Returns the annotations of the node by which the site gives it services. */
  annotations(): Record<string, string | null>
  /** Returns the notes of the node's lease, which is renewed more often while the node announces addresses. */
  withBeats(notes: LeaseNotes): LeaseNotes
  run(signal: AbortSignal): Promise<never>
}

const { beatMs } = nodeBounds.balancing

/** Connects the kubelet, which knows the pods, with the service network. */
export function createNodePorts(
  running: () => Pick<RunningKubelet, 'pods' | 'report'> | undefined,
  clock: Clock,
): NodePorts {
  const listeners = new Set<() => void>()
  const begun = createWakeFlag()
  let isAnnouncing = false
  const known: Record<string, string | null> = { [serviceBalancer.usedPorts]: null }
  const note = (name: string, text: string | null): void => {
    if (known[name] === text) return
    known[name] = text
    running()?.report()
  }
  return {
    hostPorts: () => (running()?.pods.list() ?? []).flatMap(hostPortsOf),
    onUsedPorts: (ports) => note(serviceBalancer.usedPorts, ports.join(',') || null),
    onNetwork: (network) => note(serviceBalancer.network, network),
    onAnnouncing(isAny) {
      isAnnouncing = isAny
      begun.raise()
    },
    annotations: () => ({ ...known }),
    withBeats: (notes) => ({
      annotations: () => notes.annotations(),
      onRenewed: () => notes.onRenewed(),
      onChange(listener) {
        const ofNotes = notes.onChange(listener)
        listeners.add(listener)
        return {
          [Symbol.dispose]() {
            listeners.delete(listener)
            ofNotes[Symbol.dispose]()
          },
        }
      },
    }),
    async run(signal) {
      for (;;) {
        if (!isAnnouncing) await begun.wait(signal)
        for (const listener of listeners) listener()
        await clock.sleep(beatMs, signal)
      }
    },
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
