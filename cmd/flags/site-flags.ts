/** The words that only a site has. */
import { join } from 'node:path'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'
import { parseEndpoint } from '../../roles/admin/control-plane-endpoint.ts'
import type { FrontProxyOptions } from '../../roles/control-plane/front-proxy.ts'
import { servedEtcdOptionNames } from '../../roles/etcd/option-names.ts'
import type { EtcdRoleOptions } from '../../roles/etcd/serve-etcd.ts'
import type { EdgeAppsOptions } from '../../roles/site/parts/edge-apps.ts'
import { edgeAppsOption, type EdgeAppsFlags } from './agent-flags.ts'
import { toUrls } from './control-plane-flags.ts'
import { collect, toGraceMs } from './option-values.ts'

/** Adds applications in many places, and the return of nodes that were away. */
export function withEdgeOptions(command: Command): Command {
  return command
    .addOption(edgeAppsOption().conflicts('disableControllerManager'))
    .option(
      '--hand-over-units',
      "let a NodeUnit's autonomyLevel L4 or L5 give it a control plane of its own; needs --edge-apps superedge",
    )
    .option(
      '--node-return-grace <duration>',
      'time after its end in which the certificate of a node that was away still renews itself, e.g. 12h; 0 for never (default: 30d)',
      toGraceMs,
    )
}

/** Throws ExpectedError for words that do not fit together. */
export function edgeAppsOf({
  edgeApps: systems,
  handOverUnits,
}: SiteEdgeAppsFlags): EdgeAppsOptions {
  if (handOverUnits === true && systems?.includes('superedge') !== true) {
    const text =
      'Cannot start: --hand-over-units needs --edge-apps superedge, whose NodeUnits are the units'
    throw new ExpectedError(text, exitCodes.usage)
  }
  return { systems, handsUnitsOver: handOverUnits }
}

export interface SiteEdgeAppsFlags extends EdgeAppsFlags {
  handOverUnits: boolean | undefined
}

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
      toUrls,
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
    names: servedEtcdOptionNames,
    limits: {},
    keepMs: undefined,
  }
}

export interface FrontProxyFlags {
  requestheaderClientCaFile: string | undefined
  requestheaderAllowedNames: readonly string[] | undefined
  requestheaderUsernameHeaders: readonly string[] | undefined
  requestheaderUidHeaders: readonly string[] | undefined
  requestheaderGroupHeaders: readonly string[] | undefined
  requestheaderExtraHeadersPrefix: readonly string[] | undefined
}

export function withFrontProxyOptions(command: Command): Command {
  return command
    .addOption(frontProxyOption('client-ca-file <path>', 'authority of front proxies, PEM'))
    .addOption(frontProxyOption('allowed-names <names>', 'their common names', toList))
    .addOption(frontProxyOption('username-headers <names>', 'headers that name the user', toList))
    .addOption(frontProxyOption('uid-headers <names>', 'headers with the UID', toList))
    .addOption(frontProxyOption('group-headers <names>', 'headers with the groups', toList))
    .addOption(
      frontProxyOption('extra-headers-prefix <texts>', 'prefix of headers with extras', toList),
    )
}

/**
 * Returns an option with kube-apiserver's name; without these options the site's own front proxy authority is
 * used.
 */
function frontProxyOption(
  flags: string,
  description: string,
  parse: (text: string) => unknown = (text) => text,
): Option {
  return new Option(`--requestheader-${flags}`, `front proxies: ${description}`).argParser(parse)
}

function toList(text: string): string[] {
  return text.split(',').filter((part) => part !== '')
}

export function frontProxyOf(flags: FrontProxyFlags): FrontProxyOptions {
  return {
    clientCaFile: flags.requestheaderClientCaFile,
    allowedNames: flags.requestheaderAllowedNames,
    usernameHeaders: flags.requestheaderUsernameHeaders,
    uidHeaders: flags.requestheaderUidHeaders,
    groupHeaders: flags.requestheaderGroupHeaders,
    extraHeadersPrefixes: flags.requestheaderExtraHeadersPrefix,
  }
}

/** Parses the address before the masters of a site. */
export function toEndpoint(text: string): string {
  const endpoint = parseEndpoint(text)
  if (endpoint !== undefined) return endpoint
  throw new InvalidArgumentError('give a host and a port, e.g. 10.0.0.9 or api.example.com:443')
}
