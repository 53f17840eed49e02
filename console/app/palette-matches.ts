/** Finds the entries of the palette by the first letters of their words, or any part. Pure. */
import { viewLimits } from '../limits-table.ts'

export interface PaletteEntry {
  readonly title: string
  readonly href: string
  /** Says which kind of entry it is, after the title. */
  readonly note: string
}

/** Returns the best matches: those that begin with the text, then those with a word that does, then all others. */
export function paletteMatches(
  entries: readonly PaletteEntry[],
  text: string,
  max: number,
): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return entries.slice(0, max)
  const ranked: PaletteEntry[][] = [[], [], []]
  for (const entry of entries) {
    const title = entry.title.toLowerCase()
    const searched = `${title} ${entry.note.toLowerCase()}`
    if (!words.every((word) => searched.includes(word))) continue
    const [first = ''] = words
    const rank = title.startsWith(first) ? 0 : startsWord(title, first) ? 1 : 2
    ranked[rank]?.push(entry)
  }
  return ranked.flat().slice(0, max)
}

/** The last entry leads to objects of that name in all clusters. */
export function searchEntry(text: string, title: string): PaletteEntry[] {
  const q = text.trim()
  return q.length < viewLimits.searchCharsMin
    ? []
    : [{ title, href: `/search?q=${encodeURIComponent(q)}`, note: '' }]
}

function startsWord(title: string, text: string): boolean {
  return title.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(text))
}
