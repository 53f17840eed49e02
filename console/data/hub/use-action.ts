import { useState } from 'react'
import { asHubError, type HubError } from './hub-error.ts'

export interface ActionState {
  readonly isBusy: boolean
  /** Why the last one was refused. */
  readonly fault: HubError | undefined
  /** Does one thing, and keeps its error for the page. Resolves true if it was done. */
  readonly run: (act: () => Promise<void>) => Promise<boolean>
}

/** Keeps what a button does: whether it is being done, and why it could not be. */
export function useAction(): ActionState {
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState<HubError>()
  const run = async (act: () => Promise<void>): Promise<boolean> => {
    setBusy(true)
    setFault(undefined)
    try {
      await act()
      return true
    } catch (thrown) {
      setFault(asHubError(thrown))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, fault, run }
}
