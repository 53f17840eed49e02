/** Bounds of Karmada’s kinds, by the file that keeps them. */
export const karmadaKindsBounds = Object.freeze({
  interpreterWebhookRules: Object.freeze({
    timeoutSecondsMax: 30,
  }),
  waves: Object.freeze({
    wavesMax: 32,
    charactersMax: 4_096,
  }),
})
