import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Algorithms, ConnectConfig, Prompt, Client as SshClient } from 'ssh2'
import { abortReason, asError, linkedSignal, type Clock } from '@skerry/base'
import { ShellError, type ShellRequest } from '../contract/shell.ts'
import { provisioningBounds } from '../limits-table.ts'

const bounds = provisioningBounds.shell

export interface Connected {
  readonly client: SshClient
  readonly hostKey: string
}

/** The kind of host at the address, as errors name it. */
export type SshPeer = 'machine' | 'jump host'

/**
 * Logs in over SSH, through the way of the request. The key is checked before a password or signature is sent. Rejects
 * with a ShellError that names the hop that failed, what is wrong and what to do.
 */
export async function connectSsh(
  request: ShellRequest,
  { clock, peer }: { readonly clock: Clock; readonly peer: SshPeer },
  signal: AbortSignal,
): Promise<Connected> {
  const { address, ip = address, login, way } = request
  signal.throwIfAborted()
  const attempt: Attempt = { request, peer, hostKey: '', isRefused: false }
  const late = `no login in ${bounds.connectMsMax / 1_000} s`
  using scope = linkedSignal(signal)
  using _timer = clock.setTimer(bounds.connectMsMax, () => scope.abort(new Error(late)))
  try {
    const sock = await way?.dial({ address: ip, port: login.port }, scope.signal)
    return { client: await logIn(attempt, sock, scope.signal), hostKey: attempt.hostKey }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ShellError) throw error
    throw connectError(asError(error), attempt)
  }
}

async function logIn(
  attempt: Attempt,
  sock: Duplex | undefined,
  signal: AbortSignal,
): Promise<SshClient> {
  // The library is loaded when the first machine is opened: most hubs open none.
  const { Client } = (await import('ssh2')).default
  const client = new Client()
  const ended = (): void => {
    client.destroy()
    sock?.destroy()
  }
  try {
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        ended()
        reject(abortReason(signal))
      }
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      const settle = (act: () => void) => () => {
        signal.removeEventListener('abort', onAbort)
        act()
      }
      client.once('ready', settle(resolve))
      client.once(
        'close',
        settle(() => reject(new Error(`the ${attempt.peer} closed the connection`))),
      )
      client.on('keyboard-interactive', (...[, , , prompts, answer]) =>
        answer(answersTo(prompts, attempt.request.login.password)),
      )
      // Later errors end the connection; its channels tell their users.
      client.on('error', (error: Error) => settle(() => reject(error))())
      try {
        client.connect({ ...configOf(attempt), ...(sock === undefined ? {} : { sock }) })
        // Every command is some small messages in turn. If TCP gathered them, each would wait 40 ms.
        client.setNoDelay(true)
      } catch (error) {
        // The library reads the private key here, before it dials.
        settle(() => reject(new UnreadableKeyError(error)))()
      }
    })
  } catch (error) {
    ended()
    throw error
  }
  return client
}

function configOf(attempt: Attempt): ConnectConfig {
  const { address, ip = address, login, isHostKeyAccepted } = attempt.request
  return {
    host: ip,
    port: login.port,
    username: login.user,
    // No limit here: the caller bounds the time by the injected clock.
    readyTimeout: 0,
    keepaliveInterval: bounds.keepAliveMs,
    keepaliveCountMax: bounds.keepAlivesMax,
    algorithms,
    ...(login.password === undefined ? {} : { password: login.password, tryKeyboard: true }),
    ...(login.privateKey === undefined ? {} : { privateKey: login.privateKey }),
    ...(login.passphrase === undefined ? {} : { passphrase: login.passphrase }),
    hostVerifier(key: Buffer) {
      attempt.hostKey = fingerprintOf(key)
      attempt.isRefused = !isHostKeyAccepted(attempt.hostKey)
      return !attempt.isRefused
    },
  }
}

/**
 * Leaves out what lets a peer keep the hub's only thread busy. A group of the peer's choice (RFC 4419) is tested for
 * primality before the peer's key is checked, which takes minutes; a compressed packet becomes a thousand times as long.
 */
const algorithms: Algorithms = {
  kex: { append: [], prepend: [], remove: 'diffie-hellman-group-exchange-sha256' },
  compress: ['none'],
}

/** Servers that ask by dialogue want the password for a prompt of which nothing is shown; a code, say, we do not have. */
function answersTo(prompts: readonly Prompt[], password = ''): string[] {
  const [prompt] = prompts
  const isPassword = prompts.length === 1 && prompt?.echo !== true
  return prompts.map(() => (isPassword ? password : ''))
}

function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** The private key is not one, or its passphrase is wrong. */
class UnreadableKeyError extends Error {
  constructor(cause: unknown) {
    super('the private key cannot be read', { cause })
  }
}

interface Attempt {
  readonly request: ShellRequest
  readonly peer: SshPeer
  hostKey: string
  isRefused: boolean
}

/** The library's words for a failed login and a bad key are not for people, so each gets ours. */
function connectError(error: Error, { request, peer, hostKey, isRefused }: Attempt): ShellError {
  const { address, login, way } = request
  const named = `${peer === 'machine' ? '' : `${peer} `}${address}:${login.port}`
  const at = way === undefined ? named : `${named} ${way.text}`
  if (isRefused) {
    const text = `Cannot open ${at}: its host key ${hostKey} is not accepted`
    return new ShellError('host-key', text, { cause: hostKey })
  }
  const level: unknown = 'level' in error ? error.level : undefined
  if (level === 'client-authentication') {
    const text = `Cannot log in to ${at} as ${login.user}: the ${peer} accepts neither the password nor the key; correct the Secret`
    return new ShellError('login', text)
  }
  if (error instanceof UnreadableKeyError) {
    const text = `Cannot log in to ${at} as ${login.user}: the private key cannot be read, or its passphrase is wrong; correct the Secret`
    return new ShellError('login', text)
  }
  const text = `Cannot open ${at}: ${error.message}; check that the ${peer} runs and that its SSH can be reached`
  return new ShellError('unreachable', text, { cause: error })
}
