import { fnv128a } from '../pods/fnv.ts'

/** Of either kind. */
interface Port {
  readonly name?: string
  readonly port?: number
  readonly protocol?: string
  readonly appProtocol?: string
}

/**
 * Ports of Endpoints stand in the order of the hashes that upstream takes of them (FNV-1a of what Go
 * prints), whatever their order in the service: so two lists of the same ports are equal.
 */
export function inEndpointsOrder<T extends Port>(ports: readonly T[]): T[] {
  return inOrder(ports, endpointsText)
}

/** The same for EndpointSlices, whose type of a port prints otherwise. */
export function inSliceOrder<T extends Port>(ports: readonly T[]): T[] {
  return inOrder(ports, sliceText)
}

function inOrder<T extends Port>(ports: readonly T[], textOf: (port: T) => string): T[] {
  const hashed = ports.map((port) => ({ port, hash: fnv128a(Buffer.from(textOf(port))) }))
  return hashed.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ port }) => port)
}

/** As Go's spew library prints `core/v1` EndpointPort. */
function endpointsText({ name = '', port = 0, protocol = 'TCP', appProtocol }: Port): string {
  return `(v1.EndpointPort){Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
}

/** As it prints that of `discovery.k8s.io/v1`, whose fields are pointers. */
function sliceText({ name = '', port = 0, protocol = 'TCP', appProtocol }: Port): string {
  return `(v1.EndpointPort){Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} Port:(*int32)${port} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
}
