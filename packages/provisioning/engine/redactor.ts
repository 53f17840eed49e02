import { provisioningBounds } from '../limits-table.ts'

const { redactedCharsMax, searchedCharsMax, secretCharsMin, secretsMax } = provisioningBounds.engine
/** The marker that stands where a secret was. */
const redacted = '[redacted]'

/** Removes secrets from everything that machines print, before it is stored or shown. */
export class Redactor {
  readonly #secrets = new Set<string>()
  /** The longest first; undefined if another one has come. */
  #ordered: readonly string[] | undefined

  /** Remembers secrets, each with and without the spaces around it. */
  add(secrets: readonly string[]): void {
    this.#ordered = undefined
    for (const secret of secrets.flatMap((each) => [each, each.trim()])) {
      // One more than the bound tells that there are too many.
      if (this.#secrets.size > secretsMax) return
      if (secret.trim().length >= secretCharsMin) this.#secrets.add(secret)
    }
  }

  /**
   * Returns the end of a text without secrets, and without control characters, which could change a terminal. A text
   * is withheld if there are too many secrets to search for. The longest are replaced first, so that none is left that
   * contains another.
   */
  redact(text: string): string {
    if (this.#secrets.size > secretsMax) return redacted
    this.#ordered ??= [...this.#secrets].toSorted((a, b) => b.length - a.length)
    const charsMax = Math.min(redactedCharsMax, Math.floor(searchedCharsMax / this.#ordered.length))
    const shown = endOf(text, charsMax)
    const bare = this.#ordered.reduce((left, secret) => left.replaceAll(secret, redacted), shown)
    return bare.replaceAll(/[^\P{Cc}\n\t]/gu, '?').toWellFormed()
  }
}

/** Cuts at the end of a line, so that no part of a secret is left that would not be found. */
function endOf(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const start = text.indexOf('\n', text.length - charsMax)
  return start === -1 ? '[a line that is too long]' : text.slice(start + 1)
}
