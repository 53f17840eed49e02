import { fieldInvalid, type StatusCause } from '@skerry/api'

/** How an agent reaches its hub, as far as one command for a remote edge can state it. */
export interface AgentWay {
  /** The URL of an HTTP proxy, http(s)://<host>:<port>. If omitted, the environment at the edge decides. */
  proxy?: string
  /** The proxy requires a login. It is never sent to the hub: a file or a Secret at the edge holds it. */
  proxyCredentials?: boolean
  /** A box on the way opens TLS. */
  inspectedTls?: boolean
}

/** The file for the command, and in the manifest the Secret and its key: `user:password`. */
const proxyCredentialsFile = 'proxy-credentials'
const proxySecret = 'skerry-agent-proxy'
const proxySecretKey = 'credentials'
const proxyMountPath = '/var/run/skerry-proxy'

/** Checks a registration's spec. */
export function wayCauses({ proxy, proxyCredentials }: AgentWay): StatusCause[] {
  if (proxy === undefined) {
    if (proxyCredentials !== true) return []
    return [fieldInvalid('spec.proxyCredentials', true, 'means nothing without spec.proxy')]
  }
  if (isProxyUrl(proxy)) return []
  // The value is not shown, because a user may have put a password into it.
  const why = 'must be http://<host>:<port> or https://<host>:<port>, without user and password'
  return [fieldInvalid('spec.proxy', '', why)]
}

/**
 * The value is printed into a command line that people paste, so it must contain nothing that a shell
 * interprets.
 */
function isProxyUrl(value: string): boolean {
  return /^https?:\/\/(\[[\da-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?\/?$/.test(value)
}

/** Returns the flags of `skerry agent`; the proxy's login is in that file. */
export function wayArguments(way: AgentWay, credentialsFile = proxyCredentialsFile): string[] {
  const { proxy, proxyCredentials, inspectedTls } = way
  return [
    ...(proxy === undefined ? [] : [`--proxy=${proxy}`]),
    ...(proxyCredentials === true ? [`--proxy-credentials-file=${credentialsFile}`] : []),
    ...(inspectedTls === true ? ['--inspected-tls'] : []),
  ]
}

/** The same for the agent's container, which has that file from a Secret. */
export function podWay(way: AgentWay) {
  const args = wayArguments(way, `${proxyMountPath}/${proxySecretKey}`)
  if (way.proxyCredentials !== true) return { args, volumes: [], volumeMounts: [] }
  const items = [{ key: proxySecretKey, path: proxySecretKey }]
  return {
    args,
    // The volume is not optional: without a login the proxy would refuse, so the pod waits for the Secret.
    volumes: [{ name: 'proxy', secret: { secretName: proxySecret, items } }],
    volumeMounts: [{ name: 'proxy', mountPath: proxyMountPath, readOnly: true }],
  }
}
