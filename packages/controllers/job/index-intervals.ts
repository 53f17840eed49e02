/** An interval that includes both its first and its last index. */
export interface Interval {
  readonly first: number
  readonly last: number
}

/**
 * A set of completion indexes such as `1,3-5,7`: sorted, disjoint intervals, so that a job of
 * 100,000 indexes stays a short text.
 */
export class IndexSet {
  static readonly empty = new IndexSet([])
  readonly #intervals: readonly Interval[]

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals
  }

  /** Parses a set. Indexes at or above `limit` are left out, as are parts that are not numbers. */
  static parse(text: string | undefined, limit: number): IndexSet {
    const intervals: Interval[] = []
    for (const part of (text ?? '').split(',')) {
      const [, first, last = first] = /^([0-9]+)(?:-([0-9]+))?$/.exec(part) ?? []
      if (first === undefined || Number(first) >= limit) continue
      intervals.push({ first: Number(first), last: Math.min(Number(last), limit - 1) })
    }
    return new IndexSet(joined(intervals))
  }

  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet(joined([...indexes].map((index) => ({ first: index, last: index }))))
  }

  union(other: IndexSet): IndexSet {
    return new IndexSet(joined([...this.#intervals, ...other.#intervals]))
  }

  has(index: number): boolean {
    return this.#intervals.some(({ first, last }) => first <= index && index <= last)
  }

  get size(): number {
    return this.#intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  }

  /** Returns how many indexes are in both. */
  overlap(other: IndexSet): number {
    let count = 0
    for (const a of this.#intervals) {
      for (const b of other.#intervals) {
        count += Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1)
      }
    }
    return count
  }

  /** Returns the lowest `count` indexes below `limit` that are not in the set. */
  missing(count: number, limit: number): number[] {
    const found: number[] = []
    let candidate = 0
    for (const { first, last } of [...this.#intervals, { first: limit, last: limit }]) {
      for (; candidate < Math.min(first, limit) && found.length < count; candidate++) {
        found.push(candidate)
      }
      candidate = Math.max(candidate, last + 1)
    }
    return found
  }

  toString(): string {
    return this.#intervals
      .map(({ first, last }) =>
        first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`,
      )
      .join(',')
  }
}

function joined(intervals: readonly Interval[]): Interval[] {
  const result: Interval[] = []
  for (const next of intervals.toSorted((a, b) => a.first - b.first)) {
    const before = result.at(-1)
    if (!before || next.first > before.last + 1) result.push(next)
    else if (next.last > before.last) result[result.length - 1] = { ...before, last: next.last }
  }
  return result
}
