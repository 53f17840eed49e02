import type { Duplex } from 'node:stream'
import type { ClientChannel, Client as SshClient } from 'ssh2'
import { asError, unlessAborted, type Clock } from '@skerry/base'
import { ShellError, type ShellRequest } from '../contract/shell.ts'
import type { Jump, OpenJump, Way } from '../contract/ways.ts'
import { jumpText } from '../kind/edge-cluster-ways.ts'
import { connectSsh } from './connect-ssh.ts'

/** Opens jump hosts over SSH. They run no command: each connection to a machine is a forwarded channel. */
export function sshJumps({ clock }: { readonly clock: Clock }): OpenJump {
  return async (request, signal) => {
    const { client, hostKey } = await connectSsh(request, { clock, peer: 'jump host' }, signal)
    return new SshJump(client, { hostKey, request })
  }
}

class SshJump implements Jump {
  readonly hostKey: string
  readonly #client: SshClient
  readonly #name: string
  #channels = 0
  #isBroken = false

  constructor(
    client: SshClient,
    { hostKey, request }: { readonly hostKey: string; readonly request: ShellRequest },
  ) {
    this.hostKey = hostKey
    this.#client = client
    this.#name = jumpText({ address: request.address, port: request.login.port })
    client.once('close', () => (this.#isBroken = true))
  }

  get channels(): number {
    return this.#channels
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  async dial(to: Parameters<Way['dial']>[0], signal: AbortSignal): Promise<Duplex> {
    this.#channels += 1
    const release = (): void => void (this.#channels -= 1)
    const opened = this.#forward(to)
    // One that comes when nobody waits for it any more is closed.
    const closed = opened.then((channel) => channel.once('close', release), release)
    try {
      return await unlessAborted(opened, signal)
    } catch (error) {
      void closed.then(() => opened.then((channel) => channel.destroy()).catch(() => undefined))
      signal.throwIfAborted()
      throw this.#refusal(to, error)
    }
  }

  #forward({ address, port }: Parameters<Way['dial']>[0]): Promise<ClientChannel> {
    return new Promise((resolve, reject) => {
      // The library throws if the connection has ended already.
      this.#client.forwardOut('127.0.0.1', 0, address, port, (error, channel) => {
        if (error) return reject(error)
        // Its reader is told by its end.
        channel.on('error', () => undefined)
        resolve(channel)
      })
    })
  }

  #refusal({ address, port }: Parameters<Way['dial']>[0], cause: unknown): ShellError {
    const { message } = asError(cause)
    const reason: unknown = cause instanceof Error && 'reason' in cause ? cause.reason : undefined
    const where = `Cannot reach ${address}:${port} through jump host ${this.#name}`
    if (this.#isBroken) {
      const text = `${where}: the connection to the jump host broke; check that it runs`
      return new ShellError('unreachable', text, { cause })
    }
    const why =
      reason === prohibited
        ? 'it does not forward connections; allow it there (AllowTcpForwarding and PermitOpen of sshd_config)'
        : 'it does not reach the machine; check that the machine runs and that its SSH can be reached from there'
    return new ShellError('unreachable', `${where}: ${why} (${message})`, { cause })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.end()
    this.#client.destroy()
  }
}

/** SSH_OPEN_ADMINISTRATIVELY_PROHIBITED (RFC 4254, section 5.1). */
const prohibited = 1
