import type { EndpointSlice, Service } from '@skerry/api'
import {
  endpointNodes,
  ingressAt,
  oldestFirst,
  portTexts,
  serviceName,
  staysOnNode,
  type Balance,
} from './balanced-service.ts'
import { poolOf, type BalancingNode } from './balancing-nodes.ts'

/** The cluster, as far as it decides which nodes serve which services. */
export interface NodeBalanceInput {
  /** The services that this balancer has to serve. */
  readonly services: readonly Service[]
  readonly nodes: readonly BalancingNode[]
  readonly slicesOf: (service: Service) => readonly EndpointSlice[]
  /** The ports of their node that pods take, as `80/tcp` with the pod, by the node's name. */
  readonly hostPorts: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/**
 * Gives each service the addresses of the nodes that can serve all of its ports. A port of a node belongs to the program
 * or pod that uses it, and else to the oldest service. Pure.
 */
export function planNodeBalances(input: NodeBalanceInput): Balance[] {
  const taken = new Map<string, string>()
  return oldestFirst(input.services).map((service) => {
    const { nodes, fault } = wantedNodes(service, input)
    const portFaults: string[] = []
    const free = nodes.filter((node) => {
      const users = portTexts(service).flatMap((port) => {
        const user = userOf(node, port, { input, taken })
        return user === undefined ? [] : [`port ${port}: ${user}`]
      })
      portFaults.push(...users.map((user) => `node ${node.name}: ${user}`))
      return users.length === 0
    })
    for (const { name } of free) {
      for (const port of portTexts(service)) taken.set(`${name} ${port}`, serviceName(service))
    }
    return {
      service,
      ingress: free.map(({ address }) => ingressAt(address, service)),
      portFaults,
      fault: free.length > 0 ? undefined : (fault ?? 'its ports are in use on all nodes'),
    }
  })
}

function userOf(
  { name, usedPorts }: BalancingNode,
  port: string,
  { input, taken }: { input: NodeBalanceInput; taken: ReadonlyMap<string, string> },
): string | undefined {
  const pod = input.hostPorts.get(name)?.get(port)
  if (pod !== undefined) return `${pod} has it`
  if (usedPorts.has(port)) return 'a program of the node uses it'
  const service = taken.get(`${name} ${port}`)
  return service === undefined ? undefined : `service ${service} has it`
}

interface WantedNodes {
  readonly nodes: readonly BalancingNode[]
  /** Why there is none. */
  readonly fault: string | undefined
}

function wantedNodes(service: Service, { nodes, slicesOf }: NodeBalanceInput): WantedNodes {
  if (nodes.length === 0) return { nodes, fault: 'no node is ready for load balancing' }
  const pool = poolOf(service)
  const ofPool = nodes.filter(({ labels }) => pool === undefined || labels[pool[0]] === pool[1])
  if (ofPool.length === 0) return { nodes: [], fault: `no node has the label ${pool?.join('=')}` }
  const asked = service.spec?.loadBalancerIP ?? ''
  const named = ofPool.filter(({ address }) => asked === '' || address === asked)
  if (named.length === 0) return { nodes: [], fault: `no node has the address ${asked}` }
  if (!staysOnNode(service)) return { nodes: named, fault: undefined }
  const near = endpointNodes(slicesOf(service))
  const local = named.filter(({ name }) => near.has(name))
  return { nodes: local, fault: local.length === 0 ? 'no node has a ready endpoint' : undefined }
}
