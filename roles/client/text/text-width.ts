/** Letters that take two columns of a terminal: those of East Asia, their full-width forms, and emoji. */
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303E\uFF01-\uFF60\uFFE0-\uFFE6]/u
/** Accents that are written over the letter before, and characters that nobody sees. */
const narrow = /^[\p{M}\p{Cf}]/u

/** Returns how many columns of a terminal a text takes that has no control characters. */
export function textWidth(text: string): number {
  // Nearly all texts are of this sort, and a table has thousands.
  if (/^[\u0020-\u007E]*$/.test(text)) return text.length
  let width = 0
  for (const letter of text) width += letterWidth(letter)
  return width
}

function letterWidth(letter: string): number {
  if (narrow.test(letter)) return 0
  return wide.test(letter) ? 2 : 1
}

/** Adds spaces until a text takes so many columns. */
export function padWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)))
}

/** Cuts a text so that it leaves the last column of a terminal free, where some go on to the next line. */
export function cutToWidth(text: string, columns: number): string {
  if (textWidth(text) < columns) return text
  let kept = ''
  let width = 0
  for (const letter of text) {
    width += letterWidth(letter)
    if (width > columns - 2) break
    kept += letter
  }
  return `${kept}…`
}

/** Returns how many rows of a terminal lines take that are drawn one below another. */
export function rowsOf(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(line) / columns)), 0)
}
