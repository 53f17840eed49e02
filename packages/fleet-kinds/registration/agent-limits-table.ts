/** The bounds of an agent's report on its own cluster; any real cluster stays within them. */
export const agentLimits = Object.freeze({
  labelsMax: 64,
  annotationBytesMax: 16 * 1024,
  zonesMax: 32,
  /** The limit of id, provider, region, zone and version. */
  textCharsMax: 128,
  conditionsMax: 16,
  groupVersionsMax: 1_000,
  resourceNamesMax: 256,
  statusBytesMax: 512 * 1024,
})
