/** The bounds of connections to services of the edge. Streams themselves may be idle for any time. */
export const servicesLimits = Object.freeze({
  /** Open at once to one agent's services: of a tunnel's streams the others are for its API. */
  connectionsMax: 500,
  /** The share of one user, so that nobody keeps the others from a cluster's services. */
  ofOneUser: Object.freeze({ perCluster: 250, inAll: 20_000 }),
  /** The time to connect to one address, including TLS. */
  connectMs: 5_000,
  /** The number of a service's addresses to try. */
  addressesTried: 3,
  /** The time for which an agent's reading of a service stays valid. */
  serviceFreshMs: 1_000,
  servicesKept: 256,
  /** The time for which the known addresses of nodes and of their pods stay valid. */
  nodesFreshMs: 30_000,
  /** A node that is not known is looked for again after this time. */
  unknownNodesFreshMs: 5_000,
  /** The window of an HTTP/2 answer on its way to a slow reader. */
  windowBytes: 524_288,
})
