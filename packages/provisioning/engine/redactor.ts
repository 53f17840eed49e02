/** The marker that stands where a secret was. */
const redacted = '[redacted]'
/** Shorter texts are not taken for secrets: they would blacken half of every log. */
const secretCharsMin = 4

/** Removes secrets from everything that machines print, before it is stored or shown. */
export class Redactor {
  readonly #secrets = new Set<string>()

  /** Remembers secrets. The longest are replaced first, so that none is left of which another is a part. */
  add(secrets: readonly string[]): void {
    for (const secret of secrets) {
      if (secret.trim().length >= secretCharsMin) this.#secrets.add(secret)
    }
  }

  redact(text: string): string {
    const secrets = [...this.#secrets].toSorted((a, b) => b.length - a.length)
    return secrets.reduce((left, secret) => left.replaceAll(secret, redacted), text)
  }
}
