/** The keys under which a registration names its asker. The hub sets those in `extra`, the asker the rest. */
export const registrationKeys = Object.freeze({
  /** The extra of a token's user, and so of its requests: the address from which the hub was called. */
  sourceAddress: 'hub.skerry.io/source-address',
  /** Annotations of the request, as the agent set them. */
  clusterId: 'hub.skerry.io/cluster-id',
  agentVersion: 'hub.skerry.io/agent-version',
  /** The annotation of a request that waits for a person, with the reason. */
  waitsFor: 'hub.skerry.io/waits-for',
  /**
   * The annotation of a token: the key that registered with it, as `key sha256:<hex>`, or a note that nobody
   * may.
   */
  usedBy: 'hub.skerry.io/used-by',
})

/** A token of this group registers only when a person accepts. */
export const needsAcceptanceGroup = 'system:bootstrappers:karmada:needs-acceptance'
