export interface ContainerdConfig {
  /** The directory of images, snapshots and container metadata; it survives a reboot. */
  rootDirectory: string
  /** The directory of runtime state; it belongs on a tmpfs. */
  stateDirectory: string
  socket: string
  cniConfDirectory: string
  cniBinDirectory: string
  /** One folder per registry host, in containerd's certs.d layout. */
  registryDirectory: string
  sandboxImage: string
  snapshotter: string
  /** The OCI runtime handlers by name, with the binary that runs them; the first is the default. */
  handlers: Readonly<Record<string, string>>
  /** Set where the machine has no AppArmor or may not use it. */
  disableApparmor: boolean
  /** Set where CAP_SYS_RESOURCE is missing. */
  restrictOomScoreAdj: boolean
  /** Set where no cgroup hierarchy is writable. */
  disableCgroup: boolean
}

/** Returns the text of config.toml, version 2 (containerd 1.6 and 1.7; 2.x migrates it automatically). */
export function containerdConfigToml(config: ContainerdConfig): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"'
  const [defaultHandler = 'runc'] = Object.keys(config.handlers)
  return toToml({
    '': {
      version: 2,
      root: config.rootDirectory,
      state: config.stateDirectory,
      oom_score: 0,
      disabled_plugins: [
        'io.containerd.snapshotter.v1.aufs',
        'io.containerd.snapshotter.v1.btrfs',
        'io.containerd.snapshotter.v1.devmapper',
        'io.containerd.snapshotter.v1.zfs',
        'io.containerd.internal.v1.opt',
        'io.containerd.internal.v1.tracing',
        'io.containerd.tracing.processor.v1.otlp',
      ],
    },
    grpc: { address: config.socket },
    [cri]: {
      disable_apparmor: config.disableApparmor,
      disable_cgroup: config.disableCgroup,
      restrict_oom_score_adj: config.restrictOomScoreAdj,
      disable_hugetlb_controller: true,
      tolerate_missing_hugetlb_controller: true,
      sandbox_image: config.sandboxImage,
      stream_server_address: '127.0.0.1',
      stream_server_port: '0',
      max_concurrent_downloads: 3,
      max_container_log_line_size: 262_144,
      // Under /var/run/netns the first `ip netns add` of any program mounts the directory over itself, and
      // mounts beneath can then not be removed. Existing pods keep their place.
      netns_mounts_under_state_dir: true,
    },
    [`${cri}.cni`]: { bin_dir: config.cniBinDirectory, conf_dir: config.cniConfDirectory },
    [`${cri}.containerd`]: {
      default_runtime_name: defaultHandler,
      snapshotter: config.snapshotter,
    },
    ...handlerTables(cri, config.handlers),
    [`${cri}.registry`]: { config_path: config.registryDirectory },
  })
}

function handlerTables(cri: string, handlers: Readonly<Record<string, string>>): TomlTables {
  return Object.fromEntries(
    Object.entries(handlers).flatMap(([name, binary]) => {
      const table = `${cri}.containerd.runtimes.${JSON.stringify(name)}`
      return [
        [table, { runtime_type: 'io.containerd.runc.v2' }],
        [`${table}.options`, { BinaryName: binary, SystemdCgroup: false }],
      ]
    }),
  )
}

type TomlValue = string | number | boolean | readonly string[]
type TomlTables = Record<string, Record<string, TomlValue>>

/** Formats tables: JSON's syntax of strings, numbers, booleans and string lists is also TOML's. */
function toToml(tables: TomlTables): string {
  return Object.entries(tables)
    .map(([name, table]) => {
      const lines = Object.entries(table).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
      return [...(name === '' ? [] : [`[${name}]`]), ...lines, ''].join('\n')
    })
    .join('\n')
}
