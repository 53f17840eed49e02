import type { EndpointSlice } from '@skerry/api'

/** Each slice without the endpoints of dead nodes, for as long as the same nodes are dead. */
export type LivingEndpoints = (slices: readonly EndpointSlice[]) => readonly EndpointSlice[]

/** Returns a function that takes out the endpoints on these nodes. A slice without any stays the same object. */
export function livingEndpoints(dead: ReadonlySet<string>): LivingEndpoints {
  if (dead.size === 0) return (slices) => slices
  const known = new WeakMap<EndpointSlice, EndpointSlice>()
  const living = (slice: EndpointSlice): EndpointSlice => {
    const endpoints = slice.endpoints ?? []
    const left = endpoints.filter(({ nodeName }) => nodeName === undefined || !dead.has(nodeName))
    return left.length === endpoints.length ? slice : { ...slice, endpoints: left }
  }
  return (slices) =>
    slices.map((slice) => {
      const left = known.get(slice) ?? living(slice)
      known.set(slice, left)
      return left
    })
}
