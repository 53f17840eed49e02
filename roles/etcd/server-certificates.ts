import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { asError, ExpectedError, exitCodes, messageOf } from '@skerry/base'
import type { TlsFiles } from '@skerry/etcd-server'
import type { RoleContext } from '../runtime/role-context.ts'
import type { EtcdOptionNames } from './option-names.ts'
import { etcdRoleBounds } from './limits-table.ts'

export interface CertificateOptions {
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
  /** If omitted, clients need no certificate. */
  readonly trustedCaFile: string | undefined
  readonly allowedNames: readonly string[]
}

const { lookMs } = etcdRoleBounds.certificateUpkeep

/** Without encryption nobody would be asked for a certificate. Throws ExpectedError that names the option. */
export function refuseUnusedCertificates(
  options: CertificateOptions,
  names: EtcdOptionNames,
): void {
  const { certFile, keyFile, trustedCaFile, allowedNames } = options
  const given = { certFile, keyFile, trustedCaFile, allowedNames: allowedNames[0] }
  for (const name of ['certFile', 'keyFile', 'trustedCaFile', 'allowedNames'] as const) {
    if (given[name] === undefined) continue
    const text = `${names[name]} has no effect without encryption: pass https:// in ${names.urls}`
    throw new ExpectedError(text, exitCodes.usage)
  }
}

/** Reads certificate, key and authorities. Throws ExpectedError that names what is missing or unreadable. */
export async function readCertificates(
  options: CertificateOptions,
  names: EtcdOptionNames,
): Promise<TlsFiles> {
  const { certFile, keyFile, trustedCaFile, allowedNames } = options
  if (certFile === undefined || keyFile === undefined) {
    const text = `https:// needs ${names.certFile} and ${names.keyFile}`
    throw new ExpectedError(text, exitCodes.usage)
  }
  if (allowedNames.length > 0 && trustedCaFile === undefined) {
    const text = `${names.allowedNames} needs ${names.trustedCaFile}`
    throw new ExpectedError(text, exitCodes.usage)
  }
  const cert = await readPem(certFile, names.certFile, (text) =>
    createSecureContext({ cert: text }),
  )
  const key = await readPem(keyFile, names.keyFile, (text) =>
    createSecureContext({ cert, key: text }),
  )
  const tls = { cert, key }
  if (trustedCaFile === undefined) return tls
  const clientCa = await readPem(trustedCaFile, names.trustedCaFile, (text) =>
    createSecureContext({ ca: text }),
  )
  return { ...tls, clientCa, ...(allowedNames.length > 0 ? { clientNames: allowedNames } : {}) }
}

/** Throws ExpectedError that names the file and its option. */
async function readPem(
  path: string,
  option: string,
  check: (text: string) => void,
): Promise<string> {
  try {
    const text = await readFile(path, 'utf8')
    check(text)
    return text
  } catch (error) {
    const text = `Cannot use ${option} ${path}: ${messageOf(error)}`
    throw new ExpectedError(text, exitCodes.usage, { cause: error })
  }
}

/** Hands over renewed files forever. Ends by throwing the signal's reason. */
export async function followCertificates(
  { names, ...options }: CertificateOptions & { readonly names: EtcdOptionNames },
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
      onRenewed(await readCertificates(options, names))
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
