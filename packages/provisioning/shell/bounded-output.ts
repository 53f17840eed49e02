/** Collects what a program prints, up to a bound that several collectors share. */
export class BoundedOutput {
  readonly #bytesMax: number
  readonly #onExceeded: () => void
  #bytes = 0

  constructor(bytesMax: number, onExceeded: () => void) {
    this.#bytesMax = bytesMax
    this.#onExceeded = onExceeded
  }

  /** Returns a collector; its text has U+FFFD where the bytes are not UTF-8. */
  collector(): { add: (chunk: Buffer) => void; text: () => string } {
    const chunks: Buffer[] = []
    return {
      add: (chunk) => {
        this.#bytes += chunk.length
        if (this.#bytes > this.#bytesMax) this.#onExceeded()
        else chunks.push(chunk)
      },
      text: () => Buffer.concat(chunks).toString('utf8'),
    }
  }
}
