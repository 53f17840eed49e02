/** Further fields of an EdgeCluster's spec, each of which a file of its own checks and carries out. */
export interface EdgeOptions {
  /** Check logs in to the machines and checks them, and changes nothing; Make goes on from there. Default: Make. */
  mode?: 'Make' | 'Check'
  /** How many machines are worked on at the same time; default 10. */
  machinesAtOnce?: number
  /** The version of the program with which the cluster is made. If omitted, the newest that the hub has. */
  version?: string
  proxy?: EdgeProxy
  /** Mirrors of image registries. */
  registries?: RegistryMirror[]
  /** Manifests that are applied to the cluster once its nodes are Ready. Objects that are not in them any more are removed. */
  addons?: AddOn[]
}

/** The HTTP proxy of the machines: for apt, for images, and for the site's way to the hub. Pods do not get it. */
export interface EdgeProxy {
  /** The proxy for http:// addresses, such as http://proxy.example:3128. */
  httpProxy?: string
  /** The proxy for https:// addresses. */
  httpsProxy?: string
  /** Further addresses, ranges and domains without proxy. The cluster's own are added by themselves. */
  noProxy?: string[]
  /** The Secret with username and password for the proxy. */
  credentials?: { name: string }
}

/** The places from which the images of a registry are pulled. */
export interface RegistryMirror {
  /** The registry as images name it, such as docker.io or registry.example:5000; `*` stands for every other one. */
  host: string
  /** The URLs that are asked in this order, before the registry itself. */
  endpoints: string[]
}

/** A key of a ConfigMap with manifests in YAML. */
export interface AddOn {
  configMap: string
  key: string
}

/** A step that would be done. */
export interface StepPlan {
  name: string
  /** Its work, as a clause that begins with a verb. */
  does: string
  /** Where it would be done: Hub, Master or Machines. */
  where: 'Hub' | 'Master' | 'Machines'
}
