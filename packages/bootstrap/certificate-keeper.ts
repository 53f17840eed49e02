import { createBackoff, type Clock, type Logger, type Random } from '@skerry/base'
import { readCertificate } from '@skerry/pki'
import { renewAtMs } from './certificate-lifetimes.ts'
import type { CertificateAndKey } from './issue-certificate.ts'
import {
  readCertificateAndKey,
  writeCertificateAndKey,
  type KeyPairPaths,
} from './key-pair-files.ts'

export interface CertificateKeeperDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface CertificateKeeper {
  /** What is in use now; undefined before the first. */
  current(): CertificateAndKey | undefined
  /** Takes one that was obtained otherwise, by joining, and writes it. */
  adopt(issued: CertificateAndKey): Promise<void>
  /** Called for each renewal from now on. */
  onRenewed(listener: (renewed: CertificateAndKey) => void): void
  /** Asks for the first certificate if there is none, and for the next in good time, until the signal aborts. */
  run(
    obtain: (signal: AbortSignal) => Promise<CertificateAndKey>,
    signal: AbortSignal,
  ): Promise<never>
  /** Resolves with the first that is there. */
  whenAvailable(signal: AbortSignal): Promise<CertificateAndKey>
}

/** Longest sleep of the loop: a clock that jumps (a box without battery) is noticed within this. */
const lookMs = 3_600_000

/**
 * Keeps one certificate on disk fresh. Offline is normal: renewal is tried again without end, and
 * an expired certificate stays in use until there is another, as the peer decides what it is worth.
 */
export async function openCertificateKeeper(
  paths: KeyPairPaths,
  deps: CertificateKeeperDeps,
): Promise<CertificateKeeper> {
  let current = await readCertificateAndKey(paths)
  const available = Promise.withResolvers<CertificateAndKey>()
  if (current !== undefined) available.resolve(current)
  const listeners: ((renewed: CertificateAndKey) => void)[] = []
  const take = async (issued: CertificateAndKey): Promise<void> => {
    await writeCertificateAndKey(paths, issued)
    current = issued
    available.resolve(issued)
    for (const listener of listeners) listener(issued)
  }
  return {
    current: () => current,
    adopt: take,
    onRenewed: (listener) => void listeners.push(listener),
    async whenAvailable(signal) {
      const aborted = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true })
      return Promise.race([available.promise, aborted.promise])
    },
    async run(obtain, signal) {
      const backoff = createBackoff({ initialMs: 1_000, maxMs: 300_000 }, deps.random)
      const draw = deps.random.next()
      for (;;) {
        const waitMs =
          current === undefined
            ? 0
            : renewAtMs(readCertificate(current.certificatePem), draw) - deps.clock.now()
        if (waitMs > 0) {
          await deps.clock.sleep(Math.min(waitMs, lookMs), signal)
          continue
        }
        try {
          await take(await obtain(signal))
          backoff.reset()
          deps.log.info('Certificate obtained', { path: paths.certificatePath })
        } catch (error) {
          if (signal.aborted) throw signal.reason
          deps.log.info('Certificate not obtained, trying again', {
            path: paths.certificatePath,
            error: error instanceof Error ? error : null,
          })
          await deps.clock.sleep(backoff.nextMs(), signal)
        }
      }
    },
  }
}
