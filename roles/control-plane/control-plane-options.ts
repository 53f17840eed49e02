import type { BackendDial, RequestTracing } from '@skerry/apiserver'
import type { ClusterPki } from '@skerry/bootstrap'
import type { Store } from '@skerry/store'
import type { AccessOptions } from './access-options.ts'
import type { FrontProxyOptions } from './front-proxy.ts'
import type { ListeningOptions } from './listening-options.ts'
import type { KindFlags } from './served-kinds.ts'
import type { StoreOptions } from './store-options.ts'

export interface ControlPlaneOptions {
  /** Holds pki/, and store.db unless the state is in etcd. */
  directory: string
  /** Common name of the authority that a first start makes. */
  authorityName: string
  listening: ListeningOptions
  /** Returns names and addresses that clients use, for the serving certificate. A machine's addresses may change. */
  sans: () => readonly string[]
  /** If omitted, the state is in the directory. */
  store?: StoreOptions
  /** Others run on the same etcd, with the same keys; `keyFile` opens those, and is needed once. */
  replicas?: { readonly keyFile: string | undefined } | undefined
  /** The built-in kinds to serve. If omitted, the stable versions. */
  served?: KindFlags
  /** Authentication, audit and encryption, by configuration files. */
  access?: AccessOptions
  /** Selects users whose trace context is trusted, in addition to upstream's. */
  trustsTraceOf?: NonNullable<RequestTracing['trusts']>
  /** Omitted on a hub, which has no nodes and whose services are templates. */
  nodes?: NodesOptions
  /**
   * The proxies that may name the user for whom they ask. If omitted, those with certificates of this control
   * plane's front proxy authority.
   */
  frontProxy?: FrontProxyOptions
  /** Returns the store of the API server, which may refuse writes; the given one decrypts and encrypts. */
  guard?: ((store: Store) => Promise<Store>) | undefined
}

export interface NodesOptions {
  /** The range of service addresses. */
  serviceCidr: string
  /** Dials nodes for pods' logs and streams. */
  dial: (pki: () => ClusterPki) => BackendDial
}
