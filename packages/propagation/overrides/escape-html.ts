/** Formats JSON as Go does: the same value, with characters that are special in HTML as code points. */
export function escapeHtml(json: string): string {
  const codeOf = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0')
  return json.replaceAll(/[<>&\u2028\u2029]/g, (character) => `\\u${codeOf(character)}`)
}
