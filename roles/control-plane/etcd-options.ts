import type { EtcdStoreOptions } from '@skerry/store'
import { readText, wrongUse } from '../runtime/read-config-file.ts'

/** The flags of a state outside of this machine's files, with kube-apiserver's names. */
export interface EtcdFlags {
  etcdServers?: readonly string[] | undefined
  etcdCafile?: string | undefined
  etcdCertfile?: string | undefined
  etcdKeyfile?: string | undefined
  etcdPrefix?: string | undefined
}

/** Reads the certificates. Resolves undefined if the state is in a file. Throws ExpectedError. */
export async function etcdOptionsOf(flags: EtcdFlags): Promise<EtcdStoreOptions | undefined> {
  const { etcdServers: endpoints = [], etcdCertfile, etcdKeyfile, etcdCafile } = flags
  const { etcdPrefix: prefix = '/skerry' } = flags
  if (endpoints.length === 0) return undefined
  for (const endpoint of endpoints) checkEndpoint(endpoint)
  if (!/^\/[\w./-]+$/.test(prefix)) {
    throw wrongUse(`--etcd-prefix ${prefix} is not a path like /skerry/hub`)
  }
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
    throw wrongUse('--etcd-certfile and --etcd-keyfile belong together')
  }
  const read = async (path: string | undefined) => (path === undefined ? '' : readText(path))
  const [ca, cert, key] = await Promise.all([etcdCafile, etcdCertfile, etcdKeyfile].map(read))
  const tls = { ...(ca ? { ca } : {}), ...(cert && key ? { cert, key } : {}) }
  return { endpoints, prefix, tls }
}

function checkEndpoint(endpoint: string): void {
  const url = URL.parse(endpoint)
  if (url && /^https?:$/.test(url.protocol) && url.host !== '') return
  throw wrongUse(`--etcd-servers: "${endpoint}" is not a URL like https://10.0.0.5:2379`)
}
