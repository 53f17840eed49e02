import type { ClientCredentials } from '@skerry/client'
import { validityOf } from '@skerry/pki'
import { createBackoff } from '@skerry/base'
import { renewAtMs } from './certificate-lifetimes.ts'
import type { CertificateAndKey } from './issue-certificate.ts'
import {
  readCertificateAndKey,
  writeCertificateAndKey,
  type KeyPairPaths,
} from './key-pair-files.ts'
import type { RequestDeps } from './request-certificate.ts'

/** Gets a new certificate from wherever it comes from. */
export type CertificateSource = (signal: AbortSignal) => Promise<CertificateAndKey>

export interface CertificateHome extends KeyPairPaths {
  /** False for a certificate that is there and no use any more; absent: every one is good. */
  readonly isGood?: (certificatePem: string) => boolean
}

/** One certificate that lives on disk and is renewed while the program runs. */
export interface CertificateHolder {
  /** The one to use now; changes with each renewal. */
  readonly current: CertificateAndKey
  /** For transports: asked before each request. */
  credentials(signal: AbortSignal): Promise<ClientCredentials>
  /** Called after each renewal, e.g. to give a server its new certificate. */
  onRenewed(listener: (renewed: CertificateAndKey) => void): Disposable
  /** Renews for ever, in good time and with patience: being offline is normal. Ends with the signal. */
  run(signal: AbortSignal): Promise<void>
}

const retryDefaults = Object.freeze({ initialMs: 5000, maxMs: 600_000, factor: 2, jitter: 0.5 })

/** A clock that jumps, on a box without battery, is noticed within this. */
const lookMs = 3_600_000

/**
 * Reads the certificate from its files, or gets one where none is there that is good. An expired one stays in use until
 * there is another: the machine may be offline, and its peer decides what the old one is worth.
 */
export async function holdCertificate(
  paths: CertificateHome,
  source: CertificateSource,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<CertificateHolder> {
  const present = await readCertificateAndKey(paths)
  const found = present && paths.isGood?.(present.certificatePem) !== false ? present : undefined
  let current = found ?? (await source(signal))
  if (!found) await writeCertificateAndKey(paths, current)
  const listeners = new Set<(renewed: CertificateAndKey) => void>()
  const renew = async (scope: AbortSignal): Promise<void> => {
    const renewed = await source(scope)
    await writeCertificateAndKey(paths, renewed)
    current = renewed
    for (const listener of listeners) listener(renewed)
  }
  return {
    get current() {
      return current
    },
    credentials: async () => ({ certificate: current.certificatePem, key: current.privateKeyPem }),
    onRenewed(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    run: (scope) => renewForever({ current: () => current, renew, paths }, deps, scope),
  }
}

interface Renewal {
  readonly current: () => CertificateAndKey
  readonly renew: (signal: AbortSignal) => Promise<void>
  readonly paths: KeyPairPaths
}

async function renewForever(
  { current, renew, paths }: Renewal,
  { clock, random, log }: RequestDeps,
  signal: AbortSignal,
): Promise<void> {
  const path = paths.certificatePath
  for (;;) {
    const dueMs = renewAtMs(validityOf(current().certificatePem), random.next())
    while (clock.now() < dueMs) await clock.sleep(Math.min(lookMs, dueMs - clock.now()), signal)
    const backoff = createBackoff(retryDefaults, random)
    for (;;) {
      try {
        await renew(signal)
        log.info('Certificate renewed', { path })
        break
      } catch (error) {
        if (signal.aborted) throw error
        const waitMs = backoff.nextMs()
        const why = error instanceof Error ? error : new Error(String(error))
        log.info('Certificate not renewed yet', { path, waitMs: Math.round(waitMs), error: why })
        await clock.sleep(waitMs, signal)
      }
    }
  }
}
