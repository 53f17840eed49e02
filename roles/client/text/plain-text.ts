/**
 * Removes control characters, and those that turn the order of letters: machines print what they like, and a terminal
 * would obey some of it.
 */
export function plainText(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu, ' ')
}
