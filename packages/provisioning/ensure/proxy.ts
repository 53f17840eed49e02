import { isProxyBypassed } from '@skerry/base'
import type { EdgeCluster } from '../kind/edge-cluster.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { edgeNetworkDefaults } from '../limits-table.ts'
import type { OwnMachineContext, StepContext } from '../contract/step.ts'
import { places } from './commands.ts'

/** The environment of the units, and apt's settings for the installation. Both may hold a password. */
export const proxyFiles = Object.freeze({
  environment: `${places.settings}/proxy.env`,
  apt: `${places.settings}/apt.conf`,
})

/** A login for a proxy, as the Secret has it. */
interface ProxyLogin {
  readonly username: string
  readonly password: string
}

export interface ProxyTexts {
  readonly environment: string
  readonly apt: string
}

/** Reads the login of the proxy and returns the texts of both files. A password is concealed from then on. */
export async function readProxyTexts(
  context: Pick<StepContext, 'edge' | 'machines' | 'hub' | 'signal' | 'conceal'>,
): Promise<ProxyTexts> {
  return proxyTexts(await readLogin(context), context)
}

/** Returns the texts of both files with this login, if there is one. A password is concealed from then on. */
export function proxyTexts(
  login: ProxyLogin | undefined,
  { edge, machines, conceal }: Pick<OwnMachineContext, 'edge' | 'machines' | 'conceal'>,
): ProxyTexts {
  const { proxy } = edge.spec
  if (proxy === undefined) return { environment: head, apt: aptHead }
  if (login !== undefined) conceal(proxySecrets(login))
  const http = proxy.httpProxy && withLogin(proxy.httpProxy, login)
  const https = proxy.httpsProxy && withLogin(proxy.httpsProxy, login)
  const noProxy = noProxyOf(edge, machines).join(',')
  const lines = [
    ...(http === undefined ? [] : [`HTTP_PROXY=${http}`, `http_proxy=${http}`]),
    ...(https === undefined ? [] : [`HTTPS_PROXY=${https}`, `https_proxy=${https}`]),
    `NO_PROXY=${noProxy}`,
    `no_proxy=${noProxy}`,
  ]
  const apt = [
    ...(http === undefined ? [] : [`Acquire::http::Proxy "${http}";`]),
    ...(https === undefined ? [] : [`Acquire::https::Proxy "${https}";`]),
  ]
  return { environment: textOf(head, lines), apt: textOf(aptHead, apt) }
}

/** Returns the parts of a login that may appear in no log, condition or message, also as a URL spells them. */
export function proxySecrets({ username, password }: ProxyLogin): string[] {
  return [password, encoded(password), encoded(username)]
}

const head = '# Written by skerry: the environment of the units.\n'
const aptHead = '// Written by skerry: settings of apt for the installation.\n'

function textOf(first: string, lines: readonly string[]): string {
  return `${first}${lines.map((line) => `${line}\n`).join('')}`
}

async function readLogin({
  edge,
  hub,
  signal,
}: Pick<StepContext, 'edge' | 'hub' | 'signal'>): Promise<ProxyLogin | undefined> {
  const name = edge.spec.proxy?.credentials?.name
  if (name === undefined) return undefined
  const namespace = edge.metadata.namespace ?? ''
  const value = async (key: string): Promise<string> => {
    const bytes = await hub.read({ namespace, kind: 'Secret', name, key }, signal)
    // Editors and "echo" end a value with a newline, which no login has.
    return bytes.toString('utf8').replace(/\r?\n$/, '')
  }
  return { username: await value('username'), password: await value('password') }
}

/** Returns the URL with the login in it. Each reader decodes it; no character of it means anything to systemd or apt. */
function withLogin(url: string, login: ProxyLogin | undefined): string {
  const { protocol, host } = new URL(url)
  const bare = `${protocol}//${host}`
  if (login === undefined) return bare
  return `${protocol}//${encoded(login.username)}:${encoded(login.password)}@${host}`
}

function encoded(text: string): string {
  const code = (char: string): string => `%${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}`
  return encodeURIComponent(text).replaceAll(/[!'()*~]/g, code)
}

/** Returns everything that is reached without proxy: the object's own list, and what belongs to the cluster. */
function noProxyOf(
  { spec }: Pick<EdgeCluster, 'spec'>,
  machines: readonly Pick<PlannedMachine, 'address'>[],
): string[] {
  const { podCIDR, serviceCIDR, dnsDomain } = { ...edgeNetworkDefaults, ...spec.network }
  const cluster = ['localhost', '127.0.0.0/8', podCIDR, serviceCIDR, `.${dnsDomain}`, '.svc']
  const own = machines.map(({ address }) => address)
  return [...new Set([...cluster, ...own, ...(spec.proxy?.noProxy ?? [])])]
}

/** Returns whether a host is reached through the proxy of the object, so that the machine need not know its address. */
export function isProxied(
  url: URL,
  edge: EdgeCluster,
  machines: readonly PlannedMachine[],
): boolean {
  const { proxy } = edge.spec
  const chosen = url.protocol === 'https:' ? proxy?.httpsProxy : proxy?.httpProxy
  if (chosen === undefined) return false
  const to = {
    host: url.hostname,
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
  }
  return !isProxyBypassed(to, noProxyOf(edge, machines).join(','))
}
