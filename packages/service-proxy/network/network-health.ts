/** The problems of the node's part of the service network, for the node's conditions. */
export class NetworkHealth {
  readonly #problems = new Map<string, string>()

  /** Sets the part's `problem`, in words for people, or clears it if undefined. */
  set(part: string, problem: string | undefined): void {
    if (problem === undefined) this.#problems.delete(part)
    else this.#problems.set(part, `${part}: ${problem}`)
  }

  problems(): readonly string[] {
    return [...this.#problems.values()]
  }
}
