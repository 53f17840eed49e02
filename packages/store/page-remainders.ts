import { RecentMap } from '@skerry/base'

/** Where a list was cut: the entries after `after` at that revision never change. */
export interface PageCut {
  readonly prefix: string
  readonly revision: number
  readonly after: string
}

/**
 * Caches how many entries follow a cut, so that a list read in a hundred pages is counted once.
 * Drops the oldest; a dropped one is counted again.
 */
export class PageRemainders {
  readonly #remainders: RecentMap<string, number>

  constructor(cutsMax: number) {
    this.#remainders = new RecentMap(cutsMax)
  }

  get(cut: PageCut): number | undefined {
    return this.#remainders.get(nameOf(cut))
  }

  set(cut: PageCut, remaining: number): void {
    this.#remainders.set(nameOf(cut), remaining)
  }
}

function nameOf(cut: PageCut): string {
  return JSON.stringify([cut.prefix, cut.revision, cut.after])
}
