/** A host with SSH through which the hub logs in to machines that it does not reach itself. */
export interface JumpHost {
  /** An IPv4 address or a DNS name. */
  address: string
  /** The port of SSH; default 22. */
  port?: number
  /** The user of SSH; default root. It needs no shell and no sudo there. */
  user?: string
  /** The Secret with its login; the keys are those of machines. */
  credentials: { name: string }
  /** The fingerprints, SHA256:…, of which the jump host must show one. */
  hostKeys?: string[]
  /** Whether the first fingerprint that it shows is accepted and kept. Default: false. */
  acceptNewHostKeys?: boolean
}

/** The ways of a block to its machines. At most one is set; if none is, the hub dials them itself. */
export interface BlockWay {
  jump?: JumpHost
  /** Site: the agent of the cluster's own site dials them. */
  via?: 'Site'
  /** The agent of this registered cluster dials them. */
  viaCluster?: string
}

/** The host keys of a jump host. */
export interface JumpStatus {
  address: string
  port: number
  /** The fingerprint that it showed and that was accepted. */
  hostKey?: string
  /** The fingerprint that it showed and that is not accepted yet. */
  unknownHostKey?: string
}
