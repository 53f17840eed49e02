/** Why a text cannot be read; the message is for whoever sent it, and begins with what refuses it. */
export class YamlError extends Error {
  override name = 'YamlError'
}
