/** A manifest that cannot be in a virtual cluster as it stands. The message says why, and what to do. */
export class MappingRefusal extends Error {
  override readonly name = 'MappingRefusal'
}
