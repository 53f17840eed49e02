/** A manifest that cannot be in a virtual cluster. The message states the reason and the remedy. */
export class MappingRefusal extends Error {
  override readonly name = 'MappingRefusal'
}
