import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { asHubError, type HubError } from './hub-error.ts'
import { rightsKey } from './rights.ts'

export interface ActionState {
  readonly isBusy: boolean
  /** Why the last one was refused. */
  readonly fault: HubError | undefined
  /** Does one thing, and keeps its error for the page. Resolves true if it was done. */
  readonly run: (act: () => Promise<void>) => Promise<boolean>
}

/** Keeps what a button does: whether it is being done, and why it could not be. */
export function useAction(): ActionState {
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState<HubError>()
  const run = async (act: () => Promise<void>): Promise<boolean> => {
    setBusy(true)
    setFault(undefined)
    try {
      await act()
      return true
    } catch (thrown) {
      const error = asHubError(thrown)
      setFault(error)
      // The user has lost a right since the page was opened: its other buttons may be wrong, too.
      if (error.isForbidden) void queries.invalidateQueries({ queryKey: [rightsKey] })
      return false
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, fault, run }
}
