/** Characters that make a text look like another one, because they turn the order of letters around. Pure. */

/** Embeddings, overrides and isolates of Unicode's bidirectional algorithm. */
const marks = /[\u202a-\u202e\u2066-\u2069]/g

/** Puts a visible sign in the place of each, for texts that are only shown. */
export function showReordering(text: string): string {
  return text.replace(marks, '\ufffd')
}

/** Writes each as an escape, in a text in double quotes, which stays the same text. */
export function escapeReordering(quoted: string): string {
  return quoted.replace(marks, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`)
}
