/** Decides which rows of a long list are drawn. All rows have one height. Pure. */

export interface WindowOf {
  readonly rows: number
  readonly rowPx: number
  /** How far the list is scrolled, and how much of it is visible. */
  readonly topPx: number
  readonly heightPx: number
  readonly overscan: number
}

export interface RowWindow {
  readonly first: number
  /** One behind the last drawn row. */
  readonly end: number
}

export function rowWindow({ rows, rowPx, topPx, heightPx, overscan }: WindowOf): RowWindow {
  const first = Math.max(0, Math.floor(topPx / rowPx) - overscan)
  const end = Math.min(rows, Math.ceil((topPx + heightPx) / rowPx) + overscan)
  return { first: Math.min(first, rows), end: Math.max(end, 0) }
}

/** Returns the scroll position at which a row is fully visible; the present one if it is already. */
export function scrollToRow(
  row: number,
  { rowPx, topPx, heightPx }: Pick<WindowOf, 'rowPx' | 'topPx' | 'heightPx'>,
): number {
  if (row * rowPx < topPx) return row * rowPx
  const bottomPx = (row + 1) * rowPx - heightPx
  return bottomPx > topPx ? bottomPx : topPx
}
