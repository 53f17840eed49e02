import { fnv128a } from '../pods/fnv.ts'

/** A port of Endpoints or of an EndpointSlice. */
interface Port {
  readonly name?: string
  readonly port?: number
  readonly protocol?: string
  readonly appProtocol?: string
}

/**
 * Sorts ports of Endpoints by upstream's hash (FNV-1a of Go's printed form), regardless of their
 * order in the service, so that lists of the same ports are equal.
 */
export function inEndpointsOrder<T extends Port>(ports: readonly T[]): T[] {
  return inOrder(ports, endpointsText)
}

/** Does the same for EndpointSlices, whose port type has another printed form. */
export function inSliceOrder<T extends Port>(ports: readonly T[]): T[] {
  return inOrder(ports, sliceText)
}

function inOrder<T extends Port>(ports: readonly T[], textOf: (port: T) => string): T[] {
  const hashed = ports.map((port) => ({ port, hash: fnv128a(Buffer.from(textOf(port))) }))
  return hashed.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ port }) => port)
}

/** Formats a port as Go's spew library prints a `core/v1` EndpointPort. */
function endpointsText({ name = '', port = 0, protocol = 'TCP', appProtocol }: Port): string {
  return `(v1.EndpointPort){Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
}

/** Formats a port as it prints that of `discovery.k8s.io/v1`, whose fields are pointers. */
function sliceText({ name = '', port = 0, protocol = 'TCP', appProtocol }: Port): string {
  return `(v1.EndpointPort){Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} Port:(*int32)${port} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
}
