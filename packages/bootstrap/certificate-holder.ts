import type { ClientCredentials } from '@skerry/client'
import { validityOf } from '@skerry/pki'
import { asError, createBackoff, sleepUnlessClockIsSet } from '@skerry/base'
import { isFresh, isWithin } from './certificate-lifetimes.ts'
import type { CertificateAndKey } from './issue-certificate.ts'
import {
  inspectCertificateAndKey,
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
  /** The source issues another pair whenever it is asked, so a damaged one counts as missing. Default: refused. */
  readonly isReplaceable?: true
}

/** One certificate that lives on disk and is renewed while the program runs. */
export interface CertificateHolder {
  /** The one to use now; changes with each renewal. */
  readonly current: CertificateAndKey
  /** For transports: asked before each request. */
  credentials(signal: AbortSignal): Promise<ClientCredentials>
  /** Called when another certificate is to be used, e.g. to give a server its new one. */
  onRenewed(listener: (renewed: CertificateAndKey) => void): Disposable
  /** Renews for ever, in good time and with patience: being offline is normal. Ends with the signal. */
  run(signal: AbortSignal): Promise<void>
}

const retryDefaults = Object.freeze({ initialMs: 5000, maxMs: 600_000, factor: 2, jitter: 0.5 })

/** How often the certificates are judged by the clock; also when that is set, on a box without battery. */
const lookMs = 60_000
/** Where the clocks of this machine and the issuer differ, another certificate is not asked for sooner. */
const againMs = 3_600_000

/**
 * Reads the certificate from its files, or gets one where none is there that is good. One that is out of its dates
 * stays in use until there is another: the machine may be offline, and its peer decides what the old one is worth.
 * The one before is kept: where somebody's clock was ahead at a renewal, it is good when the new one has not begun.
 * Throws ExpectedError for a damaged pair that is not replaceable, and for a directory in the place of a file.
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

/** The newest, unless it is out of its dates by this machine's clock and the one before is not. */
function inUse({ newest, previous }: Held, nowMs: number): CertificateAndKey {
  const isGood = (each: CertificateAndKey): boolean =>
    isWithin(validityOf(each.certificatePem), nowMs)
  return previous && !isGood(newest) && isGood(previous) ? previous : newest
}

/** The pair that a holder of these files would use now; undefined: none is there. */
export async function readCertificateInUse(
  paths: KeyPairPaths,
  nowMs: number,
): Promise<CertificateAndKey | undefined> {
  const newest = await readCertificateAndKey(paths)
  return newest && inUse({ newest, previous: await readPrevious(paths, true) }, nowMs)
}

/**
 * A damaged pair is worth nothing, and is replaced with the next renewal. A directory in its place would keep each
 * renewal from being written, so it is refused at once.
 */
async function readPrevious(
  paths: KeyPairPaths,
  isKept: boolean,
): Promise<CertificateAndKey | undefined> {
  const { pair } = await inspectCertificateAndKey(previousOf(paths))
  return isKept ? pair : undefined
}

/** agent.crt was agent.previous.crt before. */
function previousOf({ certificatePath, keyPath }: KeyPairPaths): KeyPairPaths {
  const before = (path: string): string => path.replace(/(\.[^./]+)$/, '.previous$1')
  return { certificatePath: before(certificatePath), keyPath: before(keyPath) }
}

interface Renewal {
  readonly held: Held
  readonly renew: (signal: AbortSignal) => Promise<void>
  /** Tells the listeners when another of the two certificates is to be used. */
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
    log.error('Certificate is out of its dates: set this clock, or that of whoever issues it', {
      path: renewal.paths.certificatePath,
      now: new Date(clock.now()).toISOString(),
      begins: new Date(period.notBeforeMs).toISOString(),
      ends: new Date(period.notAfterMs).toISOString(),
    })
  }
}

/** Looks each minute, and when the clock is set. */
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

/** Until there is another, or the clock was set and the one that is there is good after all. */
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
      const why = asError(error)
      log.info('Certificate not renewed yet', { path, waitMs: Math.round(waitMs), error: why })
      await sleepUnlessClockIsSet(clock, waitMs, signal)
      tell()
      if (isFresh(validityOf(held.newest.certificatePem), clock.now())) return
    }
  }
}
