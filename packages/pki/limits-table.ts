/** Bounds of keys, by the file that keeps them. */
export const pkiBounds = Object.freeze({
  signingKey: Object.freeze({
    rsaBitsMin: 2_048,
  }),
  nodeToken: Object.freeze({
    /** The longest life of a token that a node signs. */
    secondsMax: 3_600,
    /** A longer text is not a node's token. */
    textMax: 16 * 1024,
  }),
})
