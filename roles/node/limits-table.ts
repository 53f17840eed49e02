/** The limits of the node's role that callers cannot set, by the file that keeps them. */
export const nodeBounds = Object.freeze({
  localApi: Object.freeze({
    /** The interval at which the address of the API is looked for before it is served. */
    addressLookMs: 200,
  }),
})
