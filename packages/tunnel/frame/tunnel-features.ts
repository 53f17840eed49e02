/**
 * Parts of the protocol that not every version knows. Each end names its own in the handshake, and
 * uses only those that the other one named; names that it does not know mean nothing to it.
 *
 * | feature | what                                                              |
 * |---------|-------------------------------------------------------------------|
 * | traffic | the frame `traffic`, by which the hub says how fast the agent may send |
 */
export type TunnelFeature = 'traffic'

export const featuresHeader = 'skerry-tunnel-features'

const ownFeatures: readonly TunnelFeature[] = Object.freeze(['traffic'])

/** The value of the header that names what this version knows. */
export const ownFeaturesText = ownFeatures.join(', ')

/** What both ends know, by the other one's header. */
export function sharedFeatures(text: string | undefined): ReadonlySet<TunnelFeature> {
  const named = new Set((text ?? '').split(',').map((name) => name.trim()))
  return new Set(ownFeatures.filter((feature) => named.has(feature)))
}
