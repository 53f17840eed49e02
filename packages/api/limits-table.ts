/** The nesting of containers up to which a recursion is safe on any stack, however it was called. */
export const recursionMax = 200

export const objectMetaLimits = Object.freeze({
  annotationsBytesMax: 256 * 1024,
  fieldManagerBytesMax: 128,
  subresourceBytesMax: 256,
})

/** Caps Retry-After: a server could otherwise postpone the next request for weeks. */
export const retryAfterSecondsMax = 3_600

/** Bounds of the API’s texts and values, by the file that keeps them. */
export const apiBounds = Object.freeze({
  imageReference: Object.freeze({
    nameLengthMax: 255,
  }),
  quantity: Object.freeze({
    /** The limit of the exponent: larger quantities are meaningless, and the bigint would grow without bound. */
    exponentMax: 400,
    textLengthMax: 1024,
  }),
})
