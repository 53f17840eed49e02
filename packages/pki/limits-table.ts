/** Bounds of keys, by the file that keeps them. */
export const pkiBounds = Object.freeze({
  signingKey: Object.freeze({
    rsaBitsMin: 2_048,
  }),
})
