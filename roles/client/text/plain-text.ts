/** Removes control characters: machines print what they like, and a terminal would obey some of it. */
export function plainText(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
