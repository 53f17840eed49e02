import type { ClientCredentials } from '@skerry/client'
import { validityOf } from '@skerry/pki'
import { createBackoff, logFailure, sleepUnlessClockIsSet } from '@skerry/base'
import { isFresh, isWithin } from './certificate-lifetimes.ts'
import type { CertificateAndKey } from './issue-certificate.ts'
import {
  inspectCertificateAndKey,
  readCertificateAndKey,
  writeCertificateAndKey,
  type KeyPairPaths,
} from './key-pair-files.ts'
import type { RequestDeps } from './request-certificate.ts'
import { bootstrapBounds } from './limits-table.ts'

/** Gets a new certificate from any source. */
export type CertificateSource = (signal: AbortSignal) => Promise<CertificateAndKey>

export interface CertificateHome extends KeyPairPaths {
  /** Returns false for an existing certificate that is useless. If omitted, every one is good. */
  readonly isGood?: (certificatePem: string) => boolean
  /**
   * If true, the source can always issue another pair, so a damaged one counts as missing. Default:
   * a damaged one is refused.
   */
  readonly isReplaceable?: true
}

/** Holds one certificate that is stored on disk and renewed while the program runs. */
export interface CertificateHolder {
  /** The certificate to use now. It changes with each renewal. */
  readonly current: CertificateAndKey
  /** For transports, which call this before each request. */
  credentials(signal: AbortSignal): Promise<ClientCredentials>
  /** Calls the listener with the certificate to use from now on, e.g. to give a server its new one. */
  onRenewed(listener: (renewed: CertificateAndKey) => void): Disposable
  /** Renews forever, early and patiently, because being offline is normal. Ends with the signal. */
  run(signal: AbortSignal): Promise<void>
}

const retryDefaults = bootstrapBounds.certificateHolder

const { lookMs, againMs } = bootstrapBounds.certificateHolder

/**
 * Reads the certificate from its files, or gets one if there is no good one. A certificate outside
 * its dates stays in use until there is another: the machine may be offline, and its peer decides
 * whether to accept the old one. The previous certificate is kept: if a clock was ahead at a
 * renewal, the previous one is valid before the new one is. Throws ExpectedError for a damaged pair
 * that is not replaceable, and for a directory in place of a file.
 */
export async function holdCertificate(
  paths: CertificateHome,
  source: CertificateSource,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<CertificateHolder> {
  const present = await readPresent(paths, deps)
  const found = present && paths.isGood?.(present.certificatePem) !== false ? present : undefined
  const held: Held = {
    newest: found ?? (await source(signal)),
    previous: await readPrevious(paths, found !== undefined),
  }
  if (!found) await writeCertificateAndKey(paths, held.newest)
  const listeners = new Set<(renewed: CertificateAndKey) => void>()
  let told = inUse(held, deps.clock.now())
  const tell = (): void => {
    const used = inUse(held, deps.clock.now())
    if (used === told) return
    told = used
    for (const listener of listeners) listener(used)
  }
  const renew = async (scope: AbortSignal): Promise<void> => {
    const renewed = await source(scope)
    await writeCertificateAndKey(previousOf(paths), held.newest)
    await writeCertificateAndKey(paths, renewed)
    held.previous = held.newest
    held.newest = renewed
    tell()
  }
  return {
    get current() {
      return inUse(held, deps.clock.now())
    },
    credentials: async () => {
      const { certificatePem, privateKeyPem } = inUse(held, deps.clock.now())
      return { certificate: certificatePem, key: privateKeyPem }
    },
    onRenewed(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    run: (scope) => renewForever({ held, renew, tell, paths }, deps, scope),
  }
}

async function readPresent(
  paths: CertificateHome,
  { log }: RequestDeps,
): Promise<CertificateAndKey | undefined> {
  if (!paths.isReplaceable) return readCertificateAndKey(paths)
  const { pair, damage } = await inspectCertificateAndKey(paths)
  if (damage) {
    log.info('Certificate is damaged, asking for another', {
      path: paths.certificatePath,
      error: damage,
    })
  }
  return pair
}

interface Held {
  newest: CertificateAndKey
  previous: CertificateAndKey | undefined
}

/**
 * Returns the newest certificate, unless this machine's clock is outside its dates and within those
 * of the previous one.
 */
function inUse({ newest, previous }: Held, nowMs: number): CertificateAndKey {
  const isGood = (each: CertificateAndKey): boolean =>
    isWithin(validityOf(each.certificatePem), nowMs)
  return previous && !isGood(newest) && isGood(previous) ? previous : newest
}

/** Returns the pair that a holder of these files would use now, or undefined if there is none. */
export async function readCertificateInUse(
  paths: KeyPairPaths,
  nowMs: number,
): Promise<CertificateAndKey | undefined> {
  const newest = await readCertificateAndKey(paths)
  return newest && inUse({ newest, previous: await readPrevious(paths, true) }, nowMs)
}

/**
 * A damaged pair is ignored and replaced with the next renewal. A directory in its place would
 * prevent every renewal from being written, so it is refused at once.
 */
async function readPrevious(
  paths: KeyPairPaths,
  isKept: boolean,
): Promise<CertificateAndKey | undefined> {
  const { pair } = await inspectCertificateAndKey(previousOf(paths))
  return isKept ? pair : undefined
}

/** agent.crt was agent.previous.crt before its renewal. */
function previousOf({ certificatePath, keyPath }: KeyPairPaths): KeyPairPaths {
  const before = (path: string): string => path.replace(/(\.[^./]+)$/, '.previous$1')
  return { certificatePath: before(certificatePath), keyPath: before(keyPath) }
}

interface Renewal {
  readonly held: Held
  readonly renew: (signal: AbortSignal) => Promise<void>
  /** Notifies the listeners when the other of the two certificates becomes the one to use. */
  readonly tell: () => void
  readonly paths: KeyPairPaths
}

async function renewForever(
  renewal: Renewal,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = deps
  for (let notBeforeMs = -Infinity; ;) {
    await untilDue(renewal, { notBeforeMs, draw: deps.random.next() }, deps, signal)
    await renewUntilFresh(renewal, deps, signal)
    notBeforeMs = clock.monotonicMs() + againMs
    const period = validityOf(renewal.held.newest.certificatePem)
    if (isWithin(period, clock.now())) continue
    log.error('Certificate is not valid now: correct the clock of this machine or of the issuer', {
      path: renewal.paths.certificatePath,
      now: new Date(clock.now()).toISOString(),
      begins: new Date(period.notBeforeMs).toISOString(),
      ends: new Date(period.notAfterMs).toISOString(),
    })
  }
}

/** Checks each minute, and when the clock is set. */
async function untilDue(
  { held, tell }: Renewal,
  { notBeforeMs, draw }: { notBeforeMs: number; draw: number },
  { clock }: RequestDeps,
  signal: AbortSignal,
): Promise<void> {
  const period = validityOf(held.newest.certificatePem)
  while (isFresh(period, clock.now(), draw) || clock.monotonicMs() < notBeforeMs) {
    await sleepUnlessClockIsSet(clock, lookMs, signal)
    tell()
  }
}

/** Tries until there is another certificate, or the clock was set and the present one is good after all. */
async function renewUntilFresh(
  { held, renew, tell, paths }: Renewal,
  { clock, random, log }: RequestDeps,
  signal: AbortSignal,
): Promise<void> {
  const path = paths.certificatePath
  const backoff = createBackoff(retryDefaults, random)
  for (;;) {
    try {
      await renew(signal)
      log.info('Certificate renewed', { path })
      return
    } catch (error) {
      if (signal.aborted) throw error
      const waitMs = backoff.nextMs()
      const fields = { path, waitMs: Math.round(waitMs) }
      logFailure(log, {
        subject: 'Renew certificate',
        message: 'Certificate not renewed yet',
        error,
        fields,
      })
      await sleepUnlessClockIsSet(clock, waitMs, signal)
      tell()
      if (isFresh(validityOf(held.newest.certificatePem), clock.now())) return
    }
  }
}
