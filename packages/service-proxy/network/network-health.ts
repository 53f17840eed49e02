/** Problems of the node's part of the service network, for the node's conditions. */
export class NetworkHealth {
  readonly #problems = new Map<string, string>()

  /** `problem` in words for people; undefined: the part is well. */
  set(part: string, problem: string | undefined): void {
    if (problem === undefined) this.#problems.delete(part)
    else this.#problems.set(part, `${part}: ${problem}`)
  }

  problems(): readonly string[] {
    return [...this.#problems.values()]
  }
}
