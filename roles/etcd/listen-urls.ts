import { isIP } from 'node:net'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { EtcdOptionNames } from './option-names.ts'
import { etcdRoleBounds } from './limits-table.ts'

export interface ListenUrl {
  readonly url: string
  readonly isTls: boolean
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string }
}

const loopback = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/
const { socketPathBytesMax } = etcdRoleBounds.listening

/**
 * Reads a URL at which clients are served: https on any address, http on loopback alone, or unix for a socket.
 * Throws ExpectedError.
 */
export function listenUrl(text: string, names: EtcdOptionNames): ListenUrl {
  const wrongUse = (why: string): ExpectedError =>
    new ExpectedError(`${names.urls}: ${why}`, exitCodes.usage)
  const [, socketPath] = /^unix:\/\/(\/.+)$/.exec(text) ?? []
  if (socketPath !== undefined) {
    if (Buffer.byteLength(socketPath) > socketPathBytesMax) {
      throw wrongUse(`the path of "${text}" is longer than ${socketPathBytesMax} bytes`)
    }
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
    const { certFile, keyFile, trustedCaFile } = names
    const remedy = `pass https:// with ${certFile}, ${keyFile} and ${trustedCaFile}`
    throw wrongUse(`"${text}" would serve everybody without encryption; ${remedy}`)
  }
  return { url: text, isTls: scheme === 'https', address: { host, port: Number(port) } }
}
