/** One key of a write; without content, the key is deleted. */
export interface KeyWrite {
  readonly key: string
  readonly content?: string
}

/** The content of each key; undefined if there is none. */
type Contents = ReadonlyMap<string, string | undefined>

/**
 * Knows what a store must have after a power cut: what it acknowledged. A write that was under way may be there or not,
 * but as a whole. At most one write of a key is under way at a time.
 */
export class AcknowledgedWrites {
  readonly #acknowledged = new Map<string, string | undefined>()
  readonly #underWay = new Set<readonly KeyWrite[]>()
  #count = 0
  #revision = 0

  /** The number of acknowledged writes. */
  get count(): number {
    return this.#count
  }

  /** Call it before the write is sent. */
  begin(write: readonly KeyWrite[]): void {
    this.#underWay.add(write)
  }

  acknowledge(write: readonly KeyWrite[], revision = 0): void {
    this.#underWay.delete(write)
    this.#adopt(write)
    this.#count += 1
    this.#revision = Math.max(this.#revision, revision)
  }

  /** Forgets a write that the store has refused. */
  refuse(write: readonly KeyWrite[]): void {
    this.#underWay.delete(write)
  }

  /**
   * Returns in what a store that was opened after a cut differs from what it must have, a line for each difference. From
   * then on, the writes that it has count as acknowledged, although nobody heard of them.
   */
  check(found: ReadonlyMap<string, string>, revision = this.#revision): string[] {
    const problems: string[] = []
    for (const write of this.#underWay) {
      const isThere = write.every(({ key, content }) => found.get(key) === content)
      const isAbsent = write.every(({ key }) => found.get(key) === this.#acknowledged.get(key))
      if (isThere) this.#adopt(write)
      else if (!isAbsent) problems.push(`half of a write is there: ${keysOf(write)}`)
    }
    this.#underWay.clear()
    problems.push(...differences(this.#acknowledged, found))
    if (revision < this.#revision) {
      problems.push(`the revision is ${revision}, and ${this.#revision} was acknowledged`)
    }
    return problems
  }

  #adopt(write: readonly KeyWrite[]): void {
    for (const { key, content } of write) this.#acknowledged.set(key, content)
  }
}

function differences(wanted: Contents, found: Contents): string[] {
  const keys = new Set([...wanted.keys(), ...found.keys()])
  return [...keys].flatMap((key) => {
    const [is, should] = [found.get(key), wanted.get(key)]
    if (is === should) return []
    if (is === undefined) return [`${key} is lost`]
    if (should === undefined) return [`${key} is there, though it was deleted or never written`]
    return [`${key} has another content than was acknowledged`]
  })
}

function keysOf(write: readonly KeyWrite[]): string {
  return write.map(({ key }) => key).join(', ')
}
