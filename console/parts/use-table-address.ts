import { useCallback, useEffect, useState } from 'react'
import { browserClock } from '../data/browser/browser-clock.ts'
import { useUrlValues, type UrlValues } from '../data/browser/use-url-values.ts'
import { timeLimits } from '../limits-table.ts'
import { readRow, rowValues } from './table-address.ts'

export interface TableAddress {
  readonly values: UrlValues
  readonly change: (change: UrlValues) => void
  /** The key of the row that is chosen. */
  readonly chosen: string | undefined
  /** Chooses a row at once. The address has it after a moment: a browser refuses to change it with each press of a key. */
  readonly move: (row: string) => void
  /** Chooses a row, and writes it into the address before another page is opened, so that the way back leads to it. */
  readonly choose: (row: string) => void
}

/** Keeps the chosen row of a table in the address of its page. */
export function useTableAddress(table: string | undefined): TableAddress {
  const [values, change] = useUrlValues()
  const [moved, setMoved] = useState<string>()
  // All rows of a table have this one function, so that none is drawn again for it.
  const choose = useCallback(
    (row: string) => {
      const written = rowValues(row, table)
      // A key that does not fit into the address is chosen for as long as the table is there.
      if (written === undefined) return setMoved(row)
      change(written)
      setMoved(undefined)
    },
    [table, change],
  )
  useEffect(() => {
    if (moved === undefined) return
    const timer = browserClock.after(timeLimits.pauseMs, () => choose(moved))
    return () => timer.cancel()
  }, [moved, choose])
  return { values, change, chosen: moved ?? readRow(values, table), move: setMoved, choose }
}
