import { quoteGo, type ContainerPort, type PodSpec } from '@skerry/api'
import type { Loose } from '../../typed-strategy.ts'
import { placedContainers } from './container-warnings.ts'

interface PlacedPort {
  readonly port: Loose<ContainerPort>
  readonly field: string
}

export function warningsOfPorts(spec: Loose<PodSpec>, path: string): string[] {
  const ports = placedContainers(spec, path).flatMap(({ container, field }) =>
    (container.ports ?? []).map((port, at) => ({ port, field: `${field}.ports[${at}]` })),
  )
  return [...warningsOfNumbers(ports), ...warningsOfNames(ports)]
}

function warningsOfNumbers(ports: readonly PlacedPort[]): string[] {
  const warnings: string[] = []
  const byNumber = new Map<string, PlacedPort[]>()
  for (const placed of ports) {
    const { port, field } = placed
    if (port.hostIP && !port.hostPort) {
      warnings.push(`${field}: hostIP set without hostPort: ${goText(port)}`)
    }
    const key = `${port.containerPort}/${port.protocol}`
    const others = byNumber.get(key) ?? []
    byNumber.set(key, [...others, placed])
    for (const other of others) {
      const what = collision(port, other.port)
      if (what) warnings.push(`${field}: ${what} port definition with ${other.field}`)
    }
  }
  return warnings
}

function collision(port: Loose<ContainerPort>, other: Loose<ContainerPort>): string | undefined {
  const { hostIP = '', hostPort = 0 } = port
  const { hostIP: otherIp = '', hostPort: otherPort = 0 } = other
  if (hostIP === otherIp && hostPort === otherPort) return 'duplicate'
  if (hostPort === 0 || otherPort === 0) return 'overlapping'
  const isOneOpen = (hostIP === '') !== (otherIp === '')
  return hostPort === otherPort && isOneOpen ? 'dangerously ambiguous' : undefined
}

function warningsOfNames(ports: readonly PlacedPort[]): string[] {
  const firsts = new Map<string, string>()
  return ports.flatMap(({ port: { name }, field }) => {
    if (!name) return []
    const first = firsts.get(name)
    if (first === undefined) {
      firsts.set(name, field)
      return []
    }
    const what = `duplicate port name ${quoteGo(name)} with ${first}`
    return [`${field}: ${what}, services and probes that select ports by name will use ${first}`]
  })
}

/** Formats the value as upstream prints it. */
function goText(port: Loose<ContainerPort>): string {
  const { name = '', hostPort = 0, containerPort = 0, protocol = '', hostIP = '' } = port
  const number = `HostPort:${hostPort} ContainerPort:${containerPort}`
  return `{Name:${name} ${number} Protocol:${protocol} HostIP:${hostIP}}`
}
