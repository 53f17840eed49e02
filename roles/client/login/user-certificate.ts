import { readFile } from 'node:fs/promises'
import { ExpectedError, exitCodes, messageOf, type Clock, type Random } from '@skerry/base'
import { publicMode, renewAtMs, writeFileDurably } from '@skerry/bootstrap'
import { createHttpsTransport, fixedCredentials, readBody } from '@skerry/client'
import { certificateRenewalPath } from '@skerry/gateway'
import { validityOf } from '@skerry/pki'
import { takeFileTurn } from '@skerry/store'
import { readText } from '../../runtime/read-config-file.ts'
import { hubOrigin } from '../kubeconfig/ask-hub.ts'

export interface UserCertificateOptions {
  /** The hub's URL, https://host:port. */
  readonly hub: string
  readonly caFile: string | undefined
  /** The file, which the next certificate replaces when it is due. */
  readonly certificateFile: string
  /** Stays. */
  readonly keyFile: string
}

export interface UserCertificateDeps {
  readonly clock: Clock
  readonly random: Random
  /** Tells the person something, on standard error. */
  readonly tell: (text: string) => void
}

/** A user's certificate as it is now, and its key; both PEM. */
export interface UserCertificate {
  readonly certificate: string
  readonly key: string
  readonly notAfterMs: number
}

/**
 * Returns the certificate, renewed at the hub when most of its life is over. If that fails, the old one is
 * used until its end, and the person gets a warning. Throws ExpectedError if it has expired, or cannot be
 * read.
 */
export async function currentCertificate(
  options: UserCertificateOptions,
  deps: UserCertificateDeps,
  signal: AbortSignal,
): Promise<UserCertificate> {
  const found = await readOwn(options)
  if (!isDue(found.certificate, deps.clock)) return found
  requireGood(found, options, deps.clock)
  using _turn = await takeFileTurn(`${options.certificateFile}.lock`, deps, signal)
  const before = await readOwn(options)
  if (!isDue(before.certificate, deps.clock)) return before
  try {
    const certificate = await renew(options, { before, clock: deps.clock }, signal)
    requireBegun(certificate, options, deps.clock)
    await writeFileDurably(options.certificateFile, certificate, publicMode)
    return { ...before, certificate, notAfterMs: validityOf(certificate).notAfterMs }
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error
    deps.tell(
      `${error.message}; this one is good until ${new Date(before.notAfterMs).toISOString()}`,
    )
    return before
  }
}

/** The hub's clock is ahead of this machine's: the certificate before is good here, and this one is not yet. */
function requireBegun(certificate: string, { hub }: UserCertificateOptions, clock: Clock): void {
  const { notBeforeMs } = validityOf(certificate)
  if (notBeforeMs <= clock.now()) return
  throw new ExpectedError(
    `Cannot use the certificate that ${hub} has renewed: it begins at ${new Date(notBeforeMs).toISOString()}, and here it is ${new Date(clock.now()).toISOString()}; set the clock that is wrong`,
    exitCodes.certificates,
  )
}

async function readOwn(options: UserCertificateOptions): Promise<UserCertificate> {
  const { certificateFile, keyFile } = options
  const [certificate, key] = [await readText(certificateFile), await readText(keyFile)]
  try {
    return { certificate, key, notAfterMs: validityOf(certificate).notAfterMs }
  } catch (cause) {
    const text = `Cannot use certificate ${certificateFile}: it is not PEM`
    throw new ExpectedError(text, exitCodes.usage, { cause })
  }
}

/** Reports whether 70 % of its life is over, the earliest time for agents and nodes, too. */
function isDue(certificate: string, clock: Clock): boolean {
  return clock.now() >= renewAtMs(validityOf(certificate), 0)
}

function requireGood(
  { notAfterMs }: UserCertificate,
  { certificateFile, hub }: UserCertificateOptions,
  clock: Clock,
): void {
  if (clock.now() < notAfterMs) return
  const ended = new Date(notAfterMs).toISOString()
  throw new ExpectedError(
    `Cannot use certificate ${certificateFile}: it ended at ${ended}; ask the operator of ${hub} for another`,
    exitCodes.missingRight,
  )
}

async function renew(
  { hub, caFile }: UserCertificateOptions,
  { before, clock }: { before: UserCertificate; clock: Clock },
  signal: AbortSignal,
): Promise<string> {
  const { certificate, key } = before
  const ca = caFile === undefined ? undefined : await readFile(caFile, 'utf8')
  using transport = createHttpsTransport(
    {
      server: hubOrigin(hub),
      ...(ca === undefined ? {} : { certificateAuthority: ca }),
      credentials: fixedCredentials({ certificate, key }),
    },
    { clock },
  )
  const request = { method: 'POST', path: certificateRenewalPath, headers: {} } as const
  const answer = await transport.send(request, signal).catch((cause: unknown) => {
    const why = messageOf(cause)
    const text = `Cannot renew certificate at ${hub}: ${why}`
    throw new ExpectedError(text, exitCodes.unreachable, { cause })
  })
  const text = (await readBody(answer.body)).toString('utf8')
  const next = answer.status === 201 ? certificateOf(text) : undefined
  if (next !== undefined) return next
  throw new ExpectedError(
    `Cannot renew certificate at ${hub}: it answers ${answer.status}`,
    exitCodes.missingRight,
  )
}

/** Returns undefined if it is not a certificate. */
function certificateOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && 'certificate' in value
    const pem = isObject ? value.certificate : undefined
    if (typeof pem !== 'string') return undefined
    validityOf(pem)
    return pem
  } catch {
    // Another server's answer.
    return undefined
  }
}

/** Returns a client.authentication.k8s.io ExecCredential with a certificate. */
export function certificateCredentialOf(
  { certificate, key, notAfterMs }: UserCertificate,
  apiVersion: string,
): string {
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion,
    status: {
      clientCertificateData: certificate,
      clientKeyData: key,
      expirationTimestamp: new Date(notAfterMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    },
  })
}
