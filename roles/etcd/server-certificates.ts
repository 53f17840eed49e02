import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { asError, ExpectedError, exitCodes, messageOf } from '@skerry/base'
import type { TlsFiles } from '@skerry/etcd-server'
import type { RoleContext } from '../runtime/role-context.ts'
import { etcdRoleBounds } from './limits-table.ts'

export interface CertificateOptions {
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
  /** If omitted, clients need no certificate. */
  readonly trustedCaFile: string | undefined
  readonly allowedNames: readonly string[]
}

const { lookMs } = etcdRoleBounds.certificateUpkeep

/** Reads certificate, key and authorities. Throws ExpectedError that names what is missing or unreadable. */
export async function readCertificates(options: CertificateOptions): Promise<TlsFiles> {
  const { certFile, keyFile, trustedCaFile, allowedNames } = options
  if (certFile === undefined || keyFile === undefined) {
    throw new ExpectedError('https:// needs --cert-file and --key-file', exitCodes.usage)
  }
  if (allowedNames.length > 0 && trustedCaFile === undefined) {
    throw new ExpectedError('--client-cert-allowed-cn needs --trusted-ca-file', exitCodes.usage)
  }
  try {
    const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
    const tls = { cert, key }
    createSecureContext(tls)
    if (trustedCaFile === undefined) return tls
    const clientCa = await readFile(trustedCaFile, 'utf8')
    createSecureContext({ ca: clientCa })
    return { ...tls, clientCa, ...(allowedNames.length > 0 ? { clientNames: allowedNames } : {}) }
  } catch (error) {
    const text = `Cannot use the certificate files: ${messageOf(error)}`
    throw new ExpectedError(text, exitCodes.usage, { cause: error })
  }
}

/** Hands over renewed files forever. Ends by throwing the signal's reason. */
export async function followCertificates(
  options: CertificateOptions,
  onRenewed: (tls: TlsFiles) => void,
  { clock, log }: RoleContext,
  signal: AbortSignal,
): Promise<never> {
  let known = await changedMs(options)
  for (;;) {
    await clock.sleep(lookMs, signal)
    try {
      const changed = await changedMs(options)
      if (changed === known) continue
      onRenewed(await readCertificates(options))
      known = changed
      log.info('Certificates read again')
    } catch (error) {
      // The files may be halfway through their renewal; the old ones serve on.
      log.error('Certificates not read', { error: asError(error) })
    }
  }
}

async function changedMs({
  certFile,
  keyFile,
  trustedCaFile,
}: CertificateOptions): Promise<string> {
  const files = [certFile, keyFile, trustedCaFile].filter((file) => file !== undefined)
  const stats = await Promise.all(files.map((file) => stat(file)))
  return stats.map(({ mtimeMs, ino }) => `${ino} ${mtimeMs}`).join(' ')
}
