/**
 * Optional parts of the protocol. Each end names those that it knows in the handshake, and uses only those
 * that the other one named; it ignores unknown names.
 *
 * | feature  | meaning                                                                         |
 * |----------|---------------------------------------------------------------------------------|
 * | traffic  | the frame `traffic`, by which the hub sets how fast the agent may send          |
 * | presence | the hub takes an open tunnel for a sign that its agent is alive                 |
 * | requests | the agent, too, opens streams: its own requests to the hub                      |
 */
export type TunnelFeature = 'traffic' | 'presence' | 'requests'

export const featuresHeader = 'skerry-tunnel-features'

const ownFeatures: readonly TunnelFeature[] = Object.freeze(['traffic', 'presence', 'requests'])

/** The value of the header by which an agent names what this version knows. */
export const ownFeaturesText = ownFeatures.join(', ')

/** The value of a hub's header: `presence` and `requests` only where it offers them. */
export function offeredFeaturesText(offered: readonly TunnelFeature[]): string {
  return ['traffic', ...offered].join(', ')
}

/** Returns the features that both ends know, by the other one's header. */
export function sharedFeatures(text: string | undefined): ReadonlySet<TunnelFeature> {
  const named = new Set((text ?? '').split(',').map((name) => name.trim()))
  return new Set(ownFeatures.filter((feature) => named.has(feature)))
}
