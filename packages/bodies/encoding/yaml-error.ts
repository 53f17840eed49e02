/**
 * Reports why a text cannot be read. The message is for its sender, and begins with the part that
 * refuses it.
 */
export class YamlError extends Error {
  override name = 'YamlError'
}
