/** The names by which a site's balancer of services, its users and its nodes speak to each other. */
export const serviceBalancer = Object.freeze({
  /** The `loadBalancerClass` of this balancer. Services without a class are its own, too. */
  className: 'skerry.io/nodes',
  /** A node's annotation: the ports that balancers want and something there uses, e.g. `22/tcp,80/tcp`. */
  usedPorts: 'skerry.io/used-ports',
  /** A node's annotation: the network that it is on, e.g. `192.168.7.0/24`. */
  network: 'skerry.io/network',
  /** The leases of addresses that nodes announce: their namespace, and the label with the address. */
  leaseNamespace: 'kube-system',
  addressLabel: 'skerry.io/service-address',
  /** An annotation of such a lease: the service that the address was given to, as namespace/name. */
  serviceAnnotation: 'skerry.io/service',
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
