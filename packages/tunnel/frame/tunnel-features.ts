/**
 * Optional parts of the protocol. Each end names those that it knows in the handshake, and uses only those
 * that the other one named; it ignores unknown names.
 *
 * | feature | meaning                                                           |
 * |---------|-------------------------------------------------------------------|
 * | traffic | the frame `traffic`, by which the hub sets how fast the agent may send |
 */
export type TunnelFeature = 'traffic'

export const featuresHeader = 'skerry-tunnel-features'

const ownFeatures: readonly TunnelFeature[] = Object.freeze(['traffic'])

/** The value of the header that names what this version knows. */
export const ownFeaturesText = ownFeatures.join(', ')

/** Returns the features that both ends know, by the other one's header. */
export function sharedFeatures(text: string | undefined): ReadonlySet<TunnelFeature> {
  const named = new Set((text ?? '').split(',').map((name) => name.trim()))
  return new Set(ownFeatures.filter((feature) => named.has(feature)))
}
