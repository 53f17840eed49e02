/** Where a registration says who asks. What stands in `extra` is set by the hub, the rest by the asker. */
export const registrationKeys = Object.freeze({
  /** Extra of a token's user, and so of its requests: from which address the hub was called. */
  sourceAddress: 'hub.skerry.io/source-address',
  /** Annotations of the request, as the agent says. */
  clusterId: 'hub.skerry.io/cluster-id',
  agentVersion: 'hub.skerry.io/agent-version',
  /** Annotation of a request that nobody approves by itself, and why. */
  waitsFor: 'hub.skerry.io/waits-for',
  /** Annotation of a token: the key that registered with it, as `key sha256:<hex>`, or that nobody may. */
  usedBy: 'hub.skerry.io/used-by',
})

/** A token of this group registers only when a person accepts. */
export const needsAcceptanceGroup = 'system:bootstrappers:karmada:needs-acceptance'

/** Of what an asker says about itself, that much is shown. */
export const shownCharsMax = 128
