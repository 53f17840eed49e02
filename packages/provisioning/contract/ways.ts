import type { Duplex } from 'node:stream'
import type { ShellRequest } from './shell.ts'

/** A way to a machine that the hub does not reach itself. */
export interface Way {
  /** Names it in errors, such as `through jump host 10.0.0.1`. */
  readonly text: string
  /** True: the far end resolves and judges the address. If omitted, the hub does before it asks. */
  readonly judgesAddress?: boolean
  /** Rejects with a ShellError that names the part of the way that failed. */
  dial(
    to: { readonly address: string; readonly port: number },
    signal: AbortSignal,
  ): Promise<Duplex>
}

/** A login on a jump host, over which TCP connections are forwarded. */
export interface Jump extends AsyncDisposable {
  /** The fingerprint of its key, SHA256:…. */
  readonly hostKey: string
  /** The forwarded connections that are open or being opened. */
  readonly channels: number
  /** True: it has broken off, and forwards nothing any more. */
  readonly isBroken: boolean
  readonly dial: Way['dial']
}

export type OpenJump = (request: ShellRequest, signal: AbortSignal) => Promise<Jump>

/** A dial by the agent of a registered cluster. */
export interface ClusterDial {
  /** The name of the cluster on the hub. */
  readonly clusterName: string
  readonly address: string
  readonly port: number
}
