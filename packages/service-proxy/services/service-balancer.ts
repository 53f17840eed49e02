/** The names by which a site's balancer of services, its users and its nodes speak to each other. */
export const serviceBalancer = Object.freeze({
  /** The `loadBalancerClass` of this balancer. Services without a class are its own, too. */
  className: 'skerry.io/nodes',
  /** A node's annotation: the ports that balancers want and something there uses, e.g. `22/tcp,80/tcp`. */
  usedPorts: 'skerry.io/used-ports',
  /** If one node has a label of these with the value `true`, only such nodes take part. The second is K3s'. */
  enabledLabels: Object.freeze([
    'skerry.io/load-balancer',
    'svccontroller.k3s.cattle.io/enablelb',
  ] as const),
  /** A service with a label of these is served by nodes with the same value. The second is K3s'. */
  poolLabels: Object.freeze([
    'skerry.io/load-balancer-pool',
    'svccontroller.k3s.cattle.io/lbpool',
  ] as const),
})
