import { readFile } from 'node:fs/promises'
import {
  ExpectedError,
  connectByProxy,
  connectByTcp,
  destinationOf,
  exitCodes,
  isProxyBypassed,
  messageOf,
  type Clock,
  type Connect,
  type HttpProxy,
} from '@skerry/base'
import { connectByCarrier, tunnelLimitDefaults } from '@skerry/tunnel'
import type { RoleContext } from './role-context.ts'
import { readProxyLogin } from './read-proxy-login.ts'
import type { WayFlags } from './way-options.ts'
import { runtimeBounds } from './limits-table.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** How an agent's connections reach its hub. */
export interface WayToHub {
  readonly connect: Connect
  /** The fields for the log: no user and no password. */
  readonly described: {
    readonly proxy?: string
    readonly chosenBy?: string
    readonly carrier?: true
  }
}

/** Returns this process's way to the hub, and logs it. */
export async function connectBy(
  { hub, ...flags }: WayFlags & { hub: string },
  { clock, log }: RoleContext,
): Promise<{ connect: Connect }> {
  const { connect, described } = await wayToHub(hub, flags, { clock, environment: process.env })
  if (Object.keys(described).length > 0) log.info('Way to the hub', { hub, ...described })
  return { connect }
}

const { proxyAnswerMs } = runtimeBounds.wayToHub

/**
 * Returns the way: direct, through a proxy, or through one that intercepts TLS. Throws ExpectedError with the
 * remedy.
 */
export async function wayToHub(
  hub: string,
  flags: WayFlags,
  { clock, environment }: { clock: Clock; environment: Environment },
): Promise<WayToHub> {
  requireAddress(hub)
  const tcp = connectByTcp({ timeoutMs: tunnelLimitDefaults.connectMs, clock })
  const found = chosenProxy(hub, flags, environment)
  const proxy = found && (await proxyOf(found, flags))
  const connect = proxy ? connectByProxy(proxy, tcp, { answerMs: proxyAnswerMs, clock }) : tcp
  const described = found ? { proxy: found.url.origin, chosenBy: found.chosenBy } : {}
  if (flags.inspectedTls !== true) return { connect, described }
  return {
    connect: connectByCarrier(hub, connect, { clock }),
    described: { ...described, carrier: true },
  }
}

/**
 * Returns kubectl's way to a server: the proxy in its kubeconfig, otherwise the environment's. Throws
 * ExpectedError with what to do.
 */
export async function wayOfKubeconfig(
  { server, proxyUrl: named }: { readonly server: string; readonly proxyUrl?: string },
  { clock, environment }: { clock: Clock; environment: Environment },
): Promise<WayToHub> {
  const { origin } = new URL(server)
  const found =
    named === undefined
      ? chosenProxy(origin, {}, environment)
      : { url: proxyUrl(named, chosenByKubeconfig), chosenBy: chosenByKubeconfig }
  const tcp = connectByTcp({ timeoutMs: tunnelLimitDefaults.connectMs, clock })
  if (!found) return { connect: tcp, described: {} }
  const connect = connectByProxy(await proxyOf(found, {}), tcp, { answerMs: proxyAnswerMs, clock })
  return { connect, described: { proxy: found.url.origin, chosenBy: found.chosenBy } }
}

const chosenByKubeconfig = 'proxy-url of the kubeconfig'

/** Requires TLS, and no path, because a hub has its own. Throws ExpectedError, which shows no password. */
function requireAddress(hub: string): void {
  const url = URL.canParse(hub) ? new URL(hub) : undefined
  const { pathname, search, hash, username, password } = url ?? {}
  const isBare = pathname === '/' && `${search}${hash}${username}${password}` === ''
  if (url?.protocol === 'https:' && isBare) return
  const shown = JSON.stringify(hub.replace(/^.*@/, ''))
  throw new ExpectedError(
    `Cannot connect to hub ${shown}: it is not an address such as https://hub.example.com:7443`,
    exitCodes.usage,
  )
}

interface ChosenProxy {
  readonly url: URL
  readonly chosenBy: string
}

function chosenProxy(
  hub: string,
  { proxy }: WayFlags,
  environment: Environment,
): ChosenProxy | undefined {
  if (proxy !== undefined) {
    const url = proxyUrl(proxy, '--proxy')
    if (url.username === '' && url.password === '') return { url, chosenBy: '--proxy' }
    throw new ExpectedError(
      'Cannot use --proxy: it names a user, and others on this machine see arguments; put user:password into a file and pass --proxy-credentials-file',
      exitCodes.usage,
    )
  }
  const noProxy = environment['NO_PROXY'] ?? environment['no_proxy'] ?? ''
  const chosenBy = ['HTTPS_PROXY', 'https_proxy'].find((name) => environment[name])
  const text = chosenBy === undefined ? undefined : environment[chosenBy]
  if (chosenBy === undefined || !text) return undefined
  if (isProxyBypassed(destinationOf(new URL(hub)), noProxy)) return undefined
  return { url: proxyUrl(text, chosenBy), chosenBy }
}

/** Parses the URL, which is never shown, because it may hold a password. */
function proxyUrl(text: string, from: string): URL {
  const full = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  const isProxy = url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== ''
  if (isProxy && /^\/?$/.test(url.pathname)) return url
  const socks = url?.protocol.startsWith('socks') ? '; SOCKS is not spoken' : ''
  throw new ExpectedError(
    `Cannot use ${from}: it is not the URL of an HTTP proxy, such as http://proxy.example:3128${socks}`,
    exitCodes.usage,
  )
}

async function proxyOf(
  { url }: ChosenProxy,
  { proxyCredentialsFile: file, proxyCaFile: caFile }: WayFlags,
): Promise<HttpProxy> {
  const ca = caFile === undefined ? {} : { ca: await readPem(caFile) }
  const proxy = { url: url.origin, ...ca }
  if (file !== undefined) {
    // An unusable file is reported at the start; later ones may come and go.
    await readProxyLogin(file)
    return { ...proxy, login: () => readProxyLogin(file) }
  }
  if (url.username === '') return proxy
  const user = decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
  return { ...proxy, login: async () => ({ user, password }) }
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ExpectedError(
      `Cannot read --proxy-ca-file ${path}: ${messageOf(cause)}`,
      exitCodes.usage,
      {
        cause,
      },
    )
  }
}
