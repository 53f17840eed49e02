import { useEffect, useState } from 'react'
import { listPath } from '../../data/hub/api-paths.ts'
import { browserClock } from '../../data/browser/browser-clock.ts'
import { edgeClusters, type EdgeClusterObject } from '../../data/edge/edge-cluster.ts'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { timeLimits } from '../../limits-table.ts'
import { edgeClusterOf, type ClusterForm } from './cluster-form.ts'

export interface DryRun {
  readonly isRunning: boolean
  readonly isGood: boolean
  readonly error?: HubError
  /** How many nodes and services fit, in the hub's words. */
  readonly capacity?: string
}

export function edgeClustersPath({ namespace }: ClusterForm): string {
  return listPath(undefined, edgeClusters, namespace === '' ? 'default' : namespace)
}

/**
 * Lets the hub check the form after each pause, without making anything; no machine is asked. It rests while `isOn` is
 * false.
 */
export function useDryRun(form: ClusterForm, isOn: boolean): DryRun {
  const [dryRun, setDryRun] = useState<DryRun>({ isRunning: false, isGood: false })
  useEffect(() => {
    if (form.name === '' || !isOn) return setDryRun({ isRunning: false, isGood: false })
    const stop = new AbortController()
    setDryRun((before) => ({ ...before, isRunning: true, isGood: false }))
    const ask = async (): Promise<void> => {
      const body = edgeClusterOf(form)
      const { signal } = stop
      try {
        const path = `${edgeClustersPath(form)}?dryRun=All`
        const answer = await askJson<EdgeClusterObject>(path, { method: 'POST', body, signal })
        const { capacity } = answer.status ?? {}
        const found = capacity === undefined ? {} : { capacity }
        setDryRun({ isRunning: false, isGood: true, ...found })
      } catch (thrown) {
        if (signal.aborted) return
        setDryRun({ isRunning: false, isGood: false, error: asHubError(thrown) })
      }
    }
    const timer = browserClock.after(timeLimits.pauseMs, () => void ask())
    return () => {
      timer.cancel()
      stop.abort()
    }
  }, [form, isOn])
  return dryRun
}
