import {
  abortReason,
  asError,
  createBackoff,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import type { Nft } from '../nftables/nft.ts'
import { renderDelta, renderTable, type NftTable } from '../nftables/nft-table.ts'
import { renderNoPolicies } from './policy-table.ts'
import { serviceProxyBounds } from '../limits-table.ts'

export interface KernelTableDeps {
  nft: Nft
  clock: Clock
  random: Random
  log: Logger
}

/** The table of policies in the kernel. The table of an earlier run is replaced at first. */
export function createKernelTable({ nft, clock, log, random }: KernelTableDeps) {
  let applied: { table: NftTable | undefined; fingerprint: string } | undefined
  const replaceOnce = async (next: NftTable | undefined, signal: AbortSignal): Promise<void> => {
    const script = scriptFrom(applied, next)
    // If the result is unknown, the next try replaces the whole table.
    applied = undefined
    if (script !== '') await nft.apply(script, signal)
    applied = { table: next, fingerprint: next ? await nft.fingerprint(next.name, signal) : '' }
  }
  /** A table that another program changed is replaced as a whole. */
  const forgetIfChanged = async (signal: AbortSignal): Promise<void> => {
    if (!applied?.table) return
    const now = await nft.fingerprint(applied.table.name, signal)
    if (now === applied.fingerprint) return
    log.info('Network policies were changed by another program, applying them again', {
      isGone: now === '',
    })
    applied = undefined
  }
  return {
    /** Tries until it succeeds, with the table that is wanted by then. */
    async replace(wanted: () => NftTable | undefined, signal: AbortSignal): Promise<void> {
      const backoff = createBackoff(serviceProxyBounds.kernelTable.retry, random)
      for (;;) {
        try {
          await forgetIfChanged(signal)
          return await replaceOnce(wanted(), signal)
        } catch (error) {
          if (signal.aborted) throw abortReason(signal)
          log.error('Network policies not applied, the last ones stay', {
            error: asError(error),
          })
          await clock.sleep(backoff.nextMs(), signal)
        }
      }
    },
  }
}

function scriptFrom(
  applied: { readonly table: NftTable | undefined } | undefined,
  next: NftTable | undefined,
): string {
  if (next === undefined) return applied !== undefined && !applied.table ? '' : renderNoPolicies()
  return applied?.table === undefined ? renderTable(next) : renderDelta(applied.table, next)
}
