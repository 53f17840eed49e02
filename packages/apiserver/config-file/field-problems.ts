/** Collects the errors of a configuration file's fields, in the words of Kubernetes' field errors. */
export class FieldProblems {
  readonly #texts: string[] = []

  required(path: string, detail = ''): void {
    this.#texts.push(`${path}: Required value${detail === '' ? '' : `: ${detail}`}`)
  }

  invalid(path: string, value: string, detail: string): void {
    this.#texts.push(`${path}: Invalid value: ${JSON.stringify(value)}: ${detail}`)
  }

  duplicate(path: string, value: string): void {
    this.#texts.push(`${path}: Duplicate value: ${JSON.stringify(value)}`)
  }

  unsupported(path: string, value: string, supported: readonly string[]): void {
    const names = supported.map((name) => JSON.stringify(name)).join(', ')
    this.#texts.push(
      `${path}: Unsupported value: ${JSON.stringify(value)}: supported values: ${names}`,
    )
  }

  /** Returns all errors as one text, or undefined if there are none. */
  summary(): string | undefined {
    const [only] = this.#texts
    return this.#texts.length > 1 ? `[${this.#texts.join(', ')}]` : only
  }
}
