import { isIP } from 'node:net'
import { ExpectedError, exitCodes } from '@skerry/base'

export interface ListenUrl {
  readonly url: string
  readonly isTls: boolean
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string }
}

const loopback = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/

/**
 * Reads a URL at which clients are served: https on any address, http on loopback alone, or unix for a socket.
 * Throws ExpectedError.
 */
export function listenUrl(text: string): ListenUrl {
  const [, socketPath] = /^unix:\/\/(\/.+)$/.exec(text) ?? []
  if (socketPath !== undefined) {
    return { url: text, isTls: false, address: { path: socketPath } }
  }
  const [, scheme, bracketed, plain, port = ''] =
    /^(https?):\/\/(?:\[([^\]]+)\]|([^:/]+)):(\d{1,5})\/?$/.exec(text) ?? []
  const host = bracketed ?? plain
  const isAddress = host !== undefined && (isIP(host) !== 0 || host === 'localhost')
  if (!isAddress || Number(port) > 65_535) {
    throw wrongUse(`"${text}" is not a URL like https://10.0.0.5:2379 or unix:///run/etcd.sock`)
  }
  if (scheme === 'http' && !loopback.test(host)) {
    const remedy = 'pass https:// with --cert-file, --key-file and --trusted-ca-file'
    throw wrongUse(`"${text}" would serve everybody without encryption; ${remedy}`)
  }
  return { url: text, isTls: scheme === 'https', address: { host, port: Number(port) } }
}

function wrongUse(why: string): ExpectedError {
  return new ExpectedError(`--listen-client-urls: ${why}`, exitCodes.usage)
}
