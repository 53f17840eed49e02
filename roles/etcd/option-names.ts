/** The words by which a command takes the options of a served etcd; errors name them. */
export interface EtcdOptionNames {
  readonly urls: string
  readonly certFile: string
  readonly keyFile: string
  readonly trustedCaFile: string
  readonly allowedNames: string
}

/** The words of `skerry etcd`, which are etcd's own. */
export const etcdOptionNames: EtcdOptionNames = Object.freeze({
  urls: '--listen-client-urls',
  certFile: '--cert-file',
  keyFile: '--key-file',
  trustedCaFile: '--trusted-ca-file',
  allowedNames: '--client-cert-allowed-cn',
})

/** The words of a site that serves an etcd in its process. */
export const servedEtcdOptionNames: EtcdOptionNames = Object.freeze({
  urls: '--serve-etcd',
  certFile: '--serve-etcd-cert-file',
  keyFile: '--serve-etcd-key-file',
  trustedCaFile: '--serve-etcd-trusted-ca-file',
  allowedNames: '--serve-etcd-client-cert-allowed-cn',
})
