import { useEffect, useMemo, useState } from 'react'
import { objectPath } from '../../data/hub/api-paths.ts'
import { browserClock } from '../../data/browser/browser-clock.ts'
import { edgeClusters } from '../../data/edge/edge-cluster.ts'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { timeLimits } from '../../limits-table.ts'
import type { Batch } from './batch-form.ts'

/** Where the edge cluster is, and the blocks that it has before the new ones. */
export interface EdgePlace {
  readonly namespace: string
  readonly name: string
}

export interface BatchCheck {
  readonly isRunning: boolean
  readonly isGood: boolean
  readonly error?: HubError
  readonly blocksBefore: number
}

interface EdgeSpec {
  readonly spec: { readonly machines: readonly unknown[] }
}

export function edgePath({ namespace, name }: EdgePlace): string {
  return objectPath(undefined, { ...edgeClusters, namespace, name })
}

export const jsonPatch = 'application/json-patch+json'

/** Lets the hub check the machines after each pause, without adding any. */
export function useBatchCheck(
  { namespace, name }: EdgePlace,
  patch: readonly unknown[],
  { blocks, faults }: Batch,
): BatchCheck {
  const key = JSON.stringify(patch)
  const body = useMemo(() => patch, [key])
  const [check, setCheck] = useState<BatchCheck>(idle)
  const isComplete = blocks.length > 0 && faults.length === 0
  useEffect(() => {
    if (!isComplete) return setCheck(idle)
    const stop = new AbortController()
    const { signal } = stop
    setCheck((before) => ({ ...before, isRunning: true, isGood: false }))
    const ask = async (): Promise<void> => {
      const path = edgePath({ namespace, name })
      let blocksBefore = 0
      try {
        const { spec } = await askJson<EdgeSpec>(path, { signal })
        blocksBefore = spec.machines.length
        const asked = { method: 'PATCH', body, contentType: jsonPatch, signal } as const
        await askJson(`${path}?dryRun=All`, asked)
        setCheck({ isRunning: false, isGood: true, blocksBefore })
      } catch (thrown) {
        if (signal.aborted) return
        setCheck({ isRunning: false, isGood: false, error: asHubError(thrown), blocksBefore })
      }
    }
    const timer = browserClock.after(timeLimits.pauseMs, () => void ask())
    return () => {
      timer.cancel()
      stop.abort()
    }
  }, [namespace, name, body, isComplete])
  return check
}

const idle: BatchCheck = { isRunning: false, isGood: false, blocksBefore: 0 }
