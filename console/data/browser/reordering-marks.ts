/** Characters that make a text look like another one, because they turn the order of letters around. Pure. */

/** Embeddings, overrides and isolates of Unicode's bidirectional algorithm. */
const marks = /[\u202a-\u202e\u2066-\u2069]/g

/** All escapes of JSON: a backslash that is escaped itself begins none with the word behind it. */
const jsonEscapes = /\\(?:u20(?:2[a-e]|6[6-9])|[^])/gi

/** Puts a visible sign in the place of each in a JSON document that is only shown, and may have them as escapes. */
export function showReorderingInJson(json: string): string {
  const shown = json.replace(marks, '\ufffd')
  if (!shown.includes('\\u20')) return shown
  return shown.replace(jsonEscapes, (escape) => (escape.length > 2 ? '\ufffd' : escape))
}

/** Writes each as an escape, in a text in double quotes, which stays the same text. */
export function escapeReordering(quoted: string): string {
  return quoted.replace(marks, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`)
}
