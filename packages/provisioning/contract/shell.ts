import type { ShellFault } from '../kind/shell-fault.ts'
import type { Way } from './ways.ts'

/** The way to one machine: commands and files. A call that cannot be done rejects with a ShellError. */
export interface Shell extends AsyncDisposable {
  /** The fingerprint of the machine's key, SHA256:…. */
  readonly hostKey: string
  /**
   * Runs a program with these arguments as root; nothing of them is read by a shell. Resolves with its exit code,
   * whatever that is.
   */
  run(command: readonly [string, ...string[]], options?: RunOptions): Promise<RunResult>
  /** Writes a file as root, whole or not at all, with these permissions. Its directory is created. */
  write(path: string, content: Uint8Array | string, mode: number): Promise<void>
  /** Copies a file of this machine as root, whole or not at all. */
  upload(from: string, to: string, mode: number, signal: AbortSignal): Promise<void>
  /**
   * Copies files of this machine as root into a directory, each under its digest. A file appears there only with the content
   * of its digest; a copy that broke off continues where it ended.
   */
  uploadByDigest(
    files: readonly DigestedFile[],
    directory: string,
    signal: AbortSignal,
  ): Promise<void>
}

/** A file of this machine, and what it must contain. */
export interface DigestedFile {
  readonly from: string
  /** The SHA-256 in hexadecimal digits. */
  readonly sha256: string
  readonly bytes: number
}

/** The part of a shell that a machine can be for itself. */
export type OwnShell = Pick<Shell, 'run' | 'write'>

export interface RunOptions {
  /** The program's standard input. If omitted, it is empty. */
  readonly input?: Uint8Array | string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /**
   * True: the command changes no file that a power cut could take back. If omitted, it may, so the step ends with the
   * machine's disk being synced.
   */
  readonly keepsFiles?: boolean
}

export interface RunResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export class ShellError extends Error {
  readonly fault: ShellFault

  constructor(fault: ShellFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ShellError'
    this.fault = fault
  }
}

/** The parts of a login. No field but user and port may ever be printed. */
export interface Login {
  readonly user: string
  readonly port: number
  readonly password?: string
  /** The text of a private key file. */
  readonly privateKey?: string
  readonly passphrase?: string
  /** The password for sudo, if it is not the user's own. */
  readonly sudoPassword?: string
}

export interface ShellRequest {
  readonly address: string
  /** The IP address to dial. If omitted, the address is resolved. */
  readonly ip?: string
  readonly login: Login
  /** If omitted, the hub dials the address itself. */
  readonly way?: Way
  /** Decides whether a machine with this fingerprint is the one that is meant. */
  readonly isHostKeyAccepted: (fingerprint: string) => boolean
}

export type OpenShell = (request: ShellRequest, signal: AbortSignal) => Promise<Shell>
