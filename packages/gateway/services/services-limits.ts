/** Bounds of connections to services of the edge. Streams themselves may be idle for as long as they like. */
export const servicesLimits = Object.freeze({
  /** Open at once to one agent's services: of a tunnel's streams the others are for its API. */
  connectionsMax: 500,
  /** Of those, of one user: nobody keeps the others from a cluster's services. */
  ofOneUser: Object.freeze({ perCluster: 250, inAll: 20_000 }),
  /** TCP and TLS, to one address. */
  connectMs: 5_000,
  /** Addresses of one service that are tried. */
  addressesTried: 3,
  /** What an agent has read of a service is good for this long. */
  serviceFreshMs: 1_000,
  servicesKept: 256,
  /** And which addresses are nodes' or of their pods. */
  nodesFreshMs: 30_000,
  /** A node that is not known is looked for again after this time. */
  unknownNodesFreshMs: 5_000,
  /** Of an HTTP/2 answer, on its way to a slow reader. */
  windowBytes: 524_288,
})
