import type { Duplex } from 'node:stream'
import type { Pod } from '@skerry/api'
import type { PodAccount } from './rights-in-advance.ts'

export interface BoundPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** A token that the node has signed. */
export interface SignedToken {
  readonly token: string
  readonly expiresAtMs: number
}

/** The node's own agent, as far as its API needs it. */
export interface LocalNode {
  /** Returns true if this pod is on the node. */
  readonly hasPod: (pod: BoundPod) => boolean
  /** Returns the accounts of the pods on the node. */
  readonly accounts: () => readonly PodAccount[]
  /** Finds a pod on the node, with its newest status. */
  readonly findPod: (namespace: string, name: string) => Pod | undefined
  /** Opens a connection to the agent's server of logs and sessions, which trusts this process. */
  readonly connect: () => Duplex
  /** Returns the tokens that the control plane gave this pod. */
  readonly tokensOf: (podUid: string) => readonly string[]
  /** Signs a token that says the same as one of those. Throws RangeError if that one is of another node. */
  readonly signToken: (former: string, seconds: number) => SignedToken
  /** Returns the certificate whose key signs, PEM. */
  readonly certificatePem: () => string
}
