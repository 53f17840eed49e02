import { join } from 'node:path'
import type { ApiServer, TlsFiles } from '@skerry/apiserver'
import { messageOf, sleepUnlessClockIsSet, type Clock, type Logger } from '@skerry/base'
import {
  authorityFault,
  ensureClusterPki,
  readFileIfPresent,
  type ClusterPki,
  type ClusterPkiOptions,
  type IssuerTime,
} from '@skerry/bootstrap'
import { validityOf } from '@skerry/pki'
import { controlPlaneBounds } from './limits-table.ts'

/** The newest certificates, and the listeners to newer ones. */
export interface Renewal {
  current: ClusterPki
  readonly listeners: ((pki: ClusterPki) => Promise<void>)[]
}

export interface CertificateUpkeep {
  /** Called before each look: the machine's addresses may have changed. */
  readonly pkiOptions: () => ClusterPkiOptions
  readonly server: Pick<ApiServer, 'setTls'>
  readonly tlsOf: (pki: ClusterPki) => TlsFiles
  readonly renewal: Renewal
  readonly time: IssuerTime
}

const { lookMs, addressLookMs, tellMs } = controlPlaneBounds.certificateUpkeep

/** Keeps a control plane's certificates good while it serves. */
export interface CertificateKeeper {
  /**
   * Checks them each minute, and when the clock is set: a control plane may run for years, and its clock may
   * be set meanwhile.
   */
  run(signal: AbortSignal): Promise<never>
  /** Issues all of them again, even valid ones, and uses the new ones when it resolves. */
  renewAll(): Promise<void>
}

export function createCertificateKeeper(
  upkeep: CertificateUpkeep,
  deps: { clock: Clock; log: Logger },
): CertificateKeeper {
  // Renewals run one at a time: two that write the same files could leave a certificate without its key.
  let last: Promise<unknown> = Promise.resolve()
  const ensure = (options: ClusterPkiOptions): Promise<void> => {
    const next = last.then(() => ensureCertificates(options, upkeep, deps))
    last = next.catch(() => undefined)
    return next
  }
  const { pkiOptions } = upkeep
  return {
    renewAll: () => ensure({ ...pkiOptions(), renewsAll: true }),
    run: (signal) => keepCertificates(upkeep, () => ensure(pkiOptions()), { ...deps, signal }),
  }
}

async function ensureCertificates(
  pkiOptions: ClusterPkiOptions,
  { server, tlsOf, renewal, time }: CertificateUpkeep,
  { log }: { log: Logger },
): Promise<void> {
  const next = await ensureClusterPki(pkiOptions, time)
  if (isSame(next, renewal.current)) return
  renewal.current = next
  server.setTls(tlsOf(next))
  log.info('Certificates renewed', { directory: pkiOptions.directory })
  for (const listener of renewal.listeners) await listener(next)
}

async function keepCertificates(
  { renewal, pkiOptions }: CertificateUpkeep,
  ensure: () => Promise<void>,
  { clock, log, signal }: { clock: Clock; log: Logger; signal: AbortSignal },
): Promise<never> {
  const told = new Map<string, number>()
  const tell = (message: string, fields: Readonly<Record<string, string>>): void => {
    const key = JSON.stringify([message, fields])
    if (clock.monotonicMs() - (told.get(key) ?? -Infinity) < tellMs) return
    if (told.size >= 100) told.clear()
    told.set(key, clock.monotonicMs())
    log.error(message, fields)
  }
  for (;;) {
    for (const fault of authorityFaults(renewal.current, clock.now())) {
      tell('Authority ends', { fault })
    }
    const addresses = pkiOptions().ipAddresses.join()
    for (let sleptMs = 0; sleptMs < lookMs; sleptMs += addressLookMs) {
      if (await sleepUnlessClockIsSet(clock, addressLookMs, signal)) break
      if (pkiOptions().ipAddresses.join() !== addresses) break
    }
    try {
      await ensure()
    } catch (error) {
      tell('Certificates not renewed, trying again', { why: messageOf(error) })
    }
  }
}

function authorityFaults(pki: ClusterPki, nowMs: number): string[] {
  return [pki.authority, pki.frontProxyAuthority].flatMap(
    ({ certificatePem }) => authorityFault(certificatePem, nowMs) ?? [],
  )
}

function isSame(one: ClusterPki, other: ClusterPki): boolean {
  const texts = (pki: ClusterPki): string[] =>
    [
      pki.authority,
      pki.serving,
      pki.kubeletClient,
      pki.admin,
      pki.frontProxyAuthority,
      pki.frontProxyClient,
    ].map(({ certificatePem }) => certificatePem)
  return texts(one).join('') === texts(other).join('')
}

/**
 * Returns a time that has passed for sure: the start of the directory's newest certificate. A start in the
 * future proves nothing, because that clock may have been wrong. Returns 0 if there is none.
 */
export async function newestCertificateMs(directory: string, nowMs: number): Promise<number> {
  const text = await readFileIfPresent(join(directory, 'pki', 'admin.crt'))
  try {
    const { notBeforeMs } = validityOf(text ?? '')
    return notBeforeMs <= nowMs ? notBeforeMs : 0
  } catch {
    // The code that needs a damaged certificate reports it.
    return 0
  }
}
