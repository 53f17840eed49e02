import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Others’ programs that are measured next to ours, each at one version, with its source. */
interface GoPeer {
  readonly language: 'go'
  readonly module: string
  readonly version: string
  /** The package of each program. */
  readonly programs: Readonly<Record<string, string>>
  /** The source in `peers/` of each program: clients of a peer that publishes only a library. */
  readonly ownPrograms?: Readonly<Record<string, string>>
}

interface RustPeer {
  readonly language: 'rust'
  readonly crate: string
  readonly version: string
  readonly features: readonly string[]
  readonly programs: Readonly<Record<string, string>>
}

const peers: Readonly<Record<string, GoPeer | RustPeer>> = Object.freeze({
  konnectivity: {
    language: 'go',
    module: 'sigs.k8s.io/apiserver-network-proxy',
    version: 'v0.34.0',
    programs: {
      'proxy-server': 'sigs.k8s.io/apiserver-network-proxy/cmd/server',
      'proxy-agent': 'sigs.k8s.io/apiserver-network-proxy/cmd/agent',
    },
    ownPrograms: { 'konnectivity-relay': 'konnectivity-relay.go' },
  },
  frp: {
    language: 'go',
    module: 'github.com/fatedier/frp',
    version: 'v0.65.0',
    programs: {
      frps: 'github.com/fatedier/frp/cmd/frps',
      frpc: 'github.com/fatedier/frp/cmd/frpc',
    },
  },
  chisel: {
    language: 'go',
    module: 'github.com/jpillora/chisel',
    version: 'v1.10.1',
    programs: { chisel: 'github.com/jpillora/chisel' },
  },
  etcd: {
    language: 'go',
    module: 'go.etcd.io/etcd/v3',
    // The module proxy has no newer one of the root, where the program benchmark is.
    version: 'v3.6.8',
    programs: {
      etcd: 'go.etcd.io/etcd/server/v3',
      benchmark: 'go.etcd.io/etcd/v3/tools/benchmark',
    },
  },
  kine: {
    language: 'go',
    module: 'github.com/k3s-io/kine',
    version: 'v0.17.5',
    programs: { kine: 'github.com/k3s-io/kine' },
  },
  rathole: {
    language: 'rust',
    crate: 'rathole',
    version: '0.5.0',
    features: ['server', 'client', 'tls'],
    programs: { rathole: 'rathole' },
  },
})

export const peerNames: readonly string[] = Object.keys(peers)

/** The cache is below node_modules, so that it is never committed. */
export const defaultPeerCache = resolve(
  import.meta.dirname,
  '../../../node_modules/.cache/upstream/peers',
)

/**
 * Builds missing ones of the named peers and returns the directory of their programs. Needs the Go toolchain
 * or cargo, and their registries. Throws with the peer's name if one cannot be built.
 */
export async function buildPeers(
  names: readonly string[],
  cache: string = defaultPeerCache,
): Promise<string> {
  const bin = join(cache, 'bin')
  await mkdir(bin, { recursive: true })
  for (const name of names) {
    const peer = peers[name]
    if (peer === undefined) {
      throw new RangeError(`Cannot build ${name}: known are ${peerNames.join(', ')}`)
    }
    if (await hasPrograms(name, bin)) continue
    console.error(`Building ${name} ${peer.version}`)
    try {
      await (peer.language === 'go' ? buildGo(name, peer, cache) : buildRust(peer, cache))
    } catch (error) {
      throw new Error(`Cannot build ${name} ${peer.version}: see its output above`, {
        cause: error,
      })
    }
  }
  return bin
}

/** Returns whether all programs of a peer are built. */
export async function hasPrograms(name: string, bin: string): Promise<boolean> {
  const programs = programsOf(peers[name])
  const found = await Promise.all(programs.map((program) => isThere(join(bin, program))))
  return found.length > 0 && found.every(Boolean)
}

function programsOf(peer: GoPeer | RustPeer | undefined): string[] {
  if (peer === undefined) return []
  const own = peer.language === 'go' ? Object.keys(peer.ownPrograms ?? {}) : []
  return [...Object.keys(peer.programs), ...own]
}

async function buildGo(name: string, peer: GoPeer, cache: string): Promise<void> {
  const directory = join(cache, name)
  await mkdir(directory, { recursive: true })
  const { module, version } = peer
  const source = nice('go', ['mod', 'download', '-json', `${module}@${version}`], cache)
  // The command `go mod download -json` prints this type.
  const { Dir } = JSON.parse(source) as { Dir: string }
  const original = await readFile(join(Dir, 'go.mod'), 'utf8')
  await writeFile(join(directory, 'go.mod'), moduleText(original, peer))
  // The peer's own checksums are needed because the forks that replace its modules are in no public list.
  await writeFile(join(directory, 'go.sum'), await readFile(join(Dir, 'go.sum')))
  const imports = Object.values(peer.programs).map((path) => `import _ "${path}"`)
  const text = ['//go:build programs', '', 'package programs', '', ...imports, ''].join('\n')
  await writeFile(join(directory, 'programs.go'), text)
  const own = Object.entries(peer.ownPrograms ?? {})
  for (const [program, file] of own) {
    await mkdir(join(directory, program), { recursive: true })
    await copyFile(join(import.meta.dirname, 'peers', file), join(directory, program, 'main.go'))
  }
  // The flag -e ignores unpublished test dependencies, which are not needed.
  nice('go', ['mod', 'tidy', '-e'], directory)
  const ownPaths = own.map(([program]) => [program, `./${program}`] as const)
  for (const [program, path] of [...Object.entries(peer.programs), ...ownPaths]) {
    const target = join(cache, 'bin', program)
    nice('go', ['build', '-ldflags=-s -w', '-o', `${target}.part`, path], directory)
    await rename(`${target}.part`, target)
  }
}

/** Returns a go.mod of our own: the peer's without replacements by directories that it did not publish. */
function moduleText(original: string, { module, version }: GoPeer): string {
  const lines = original.split('\n').filter((line) => !/=>\s*\.{1,2}\//.test(line))
  const text = lines.join('\n').replace(/^module .*$/m, 'module peer')
  return `${text.replaceAll(/konnectivity-client v0\.0\.0\b/g, `konnectivity-client ${version}`)}\nrequire ${module} ${version}\n`
}

async function buildRust({ crate, version, features }: RustPeer, cache: string): Promise<void> {
  // Ignores the crate's lock file, whose dependencies do not compile with current compilers.
  const what = [crate, '--version', version, '--root', cache]
  nice('cargo', ['install', ...what, '--no-default-features', '-F', features.join(',')], cache)
}

function nice(program: string, args: readonly string[], directory: string): string {
  return execFileSync('nice', ['-n', '10', program, ...args], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
