export const bodyLimits = Object.freeze({
  bytesMax: 3 * 1024 * 1024,
  depthMax: 10_000,
  yamlDepthMax: 500,
  aliasesMax: 100,
  partsMax: 300_000,
  duplicatesMax: 100,
})

export const fieldSetLimits = Object.freeze({
  /** A deeper value is owned as a whole. Sets are traversed recursively, and any client may send one. */
  depthMax: 500,
})

export const jsonPatchLimits = Object.freeze({
  operationsMax: 10_000,
  /** The total size that all `copy` operations may add, because each can double an object. */
  copiedCharactersMax: 3 * 1024 * 1024,
  /** The limit of bodies. Operations could otherwise nest what they add without end. */
  depthMax: 10_000,
})

/** Bounds of bodies and patches that no caller sets, by the file that keeps them. */
export const bodiesBounds = Object.freeze({
  fieldCheck: Object.freeze({
    unknownFieldsMax: 100,
    /** The total length of the paths of all unknown fields. */
    pathCharactersMax: 1024 * 1024,
  }),
  appliedCheck: Object.freeze({
    findingsMax: 100,
  }),
  managers: Object.freeze({
    /** Further Update entries are merged into one for ancient changes, oldest first. */
    updateManagersMax: 10,
  }),
  body: Object.freeze({
    /**
     * The total length of all paths that are examined for the order: a long key is part of the path of
     * everything in it.
     */
    orderCharactersMax: 32 * 1024 * 1024,
  }),
  unreadableBody: Object.freeze({
    shownMax: 30,
  }),
  yamlKeys: Object.freeze({
    /** A message for a person; upstream prints all of it. */
    printedCharactersMax: 1_024,
  }),
  jsonPatch: Object.freeze({
    operationsPerStep: 1_000,
  }),
})
