import { join } from 'node:path'
import type { Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { EtcdRoleOptions } from '../../roles/etcd/serve-etcd.ts'
import { collect } from './option-values.ts'

/** The words for an etcd that a site serves to others; it has nothing to do with the site's own state. */
export interface ServedEtcdFlags {
  serveEtcd: string[] | undefined
  serveEtcdCertFile: string | undefined
  serveEtcdKeyFile: string | undefined
  serveEtcdTrustedCaFile: string | undefined
  serveEtcdClientCertAllowedCn: string[]
}

export function withServedEtcd(command: Command): Command {
  return command
    .option(
      '--serve-etcd <urls>',
      'serve etcd’s API to programs on this node, from a store of their own in this process: https://<ip>:<port>, unix:///<path>, or http:// on loopback',
      (text: string) => text.split(',').filter((url) => url !== ''),
    )
    .option('--serve-etcd-cert-file <path>', 'its certificate, PEM')
    .option('--serve-etcd-key-file <path>', 'its key, PEM')
    .option(
      '--serve-etcd-trusted-ca-file <path>',
      'authorities that must have issued its clients’ certificates, PEM',
    )
    .option(
      '--serve-etcd-client-cert-allowed-cn <name>',
      'only certificates with this common name are good (repeatable)',
      collect,
      [],
    )
}

/** Returns undefined if none is to be served. Throws ExpectedError for words that do not fit together. */
export function servedEtcdOf(
  flags: ServedEtcdFlags,
  siteDirectory: string,
): EtcdRoleOptions | undefined {
  const certificates = {
    certFile: flags.serveEtcdCertFile,
    keyFile: flags.serveEtcdKeyFile,
    trustedCaFile: flags.serveEtcdTrustedCaFile,
    allowedNames: flags.serveEtcdClientCertAllowedCn,
  }
  if (flags.serveEtcd === undefined) {
    const { allowedNames, ...files } = certificates
    if (allowedNames.length === 0 && Object.values(files).every((file) => file === undefined)) {
      return undefined
    }
    const text = 'Cannot start: the options --serve-etcd-… belong to --serve-etcd'
    throw new ExpectedError(text, exitCodes.usage)
  }
  return {
    dataDir: join(siteDirectory, 'served-etcd'),
    name: 'default',
    listenUrls: flags.serveEtcd,
    advertiseUrls: undefined,
    certificates,
    limits: {},
    keepMs: undefined,
  }
}
