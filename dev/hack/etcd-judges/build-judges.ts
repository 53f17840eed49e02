import { existsSync } from 'node:fs'
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { mustRun } from '../clients/client-plan.ts'

/** The etcd whose tests, tools and server are built. */
const etcdVersion = 'v3.6.16'
/** Kubernetes' API server as a library; its tests of storage/etcd3 are built. */
const apiserverVersion = 'v0.36.6'

/** Everything that is built lies here; never committed. */
const judgesCache = resolve(
  import.meta.dirname,
  '../../../node_modules/.cache/upstream/etcd-judges',
)
const bin = join(judgesCache, 'bin')

type Target = 'program' | 'test'

interface Built {
  readonly what: Target
  readonly package: string
  readonly tags?: string
}

/** Programs and tests of etcd's modules, by the name of the file that is made. */
const ofEtcd: Readonly<Record<string, Built>> = Object.freeze({
  etcd: { what: 'program', package: 'go.etcd.io/etcd/server/v3' },
  etcdctl: { what: 'program', package: 'go.etcd.io/etcd/etcdctl/v3' },
  etcdutl: { what: 'program', package: 'go.etcd.io/etcd/etcdutl/v3' },
  'common.test': { what: 'test', package: './common', tags: 'e2e' },
})

/** Builds the missing ones of etcd's programs and tests and returns the directory that has them. */
export async function buildOfEtcd(...names: readonly string[]): Promise<string> {
  for (const name of names) {
    const built = ofEtcd[name]
    if (built === undefined) throw new RangeError(`Cannot build ${name}: it is not in the table`)
    await buildOnce(name, await etcdTests(), built)
  }
  return bin
}

/** Returns the directory of a package of etcd's tests: they find their fixtures from there. */
export async function directoryOfTests(name: 'common' | 'robustness'): Promise<string> {
  return join(await etcdTests(), name)
}

/** Builds the checker of `robustness/`, whose files take the place of the test in etcd's package of that name. */
export async function buildRobustness(): Promise<string> {
  const directory = await etcdTests()
  await rm(join(directory, 'robustness/main_test.go'), { force: true })
  for (const file of ['robustness_test.go', 'persisted_test.go']) {
    const source = join(import.meta.dirname, 'robustness', file)
    await copyFile(source, join(directory, 'robustness', file))
  }
  const target = join(bin, 'robustness.test')
  await mkdir(bin, { recursive: true })
  await go(directory, ['test', '-c', '-o', target, './robustness'])
  return target
}

/**
 * Builds Kubernetes' tests of storage/etcd3 from a copy of their module with `storage/testserver.go` in the place of the
 * package that starts an etcd in the process.
 */
export async function buildStorageTests(): Promise<string> {
  const directory = await copyOf(`k8s.io/apiserver@${apiserverVersion}`, 'apiserver')
  const theirs = join(directory, 'pkg/storage/etcd3/testserver/test_server.go')
  await copyFile(join(import.meta.dirname, 'storage/testserver.go'), theirs)
  const target = join(bin, 'etcd3.test')
  await mkdir(bin, { recursive: true })
  await go(directory, ['test', '-c', '-o', target, './pkg/storage/etcd3'])
  return target
}

/** Writes a program of the name etcd that is `skerry etcd`, and returns its path. */
export async function ownServer(): Promise<string> {
  const path = join(judgesCache, 'ours', 'etcd')
  await mkdir(dirname(path), { recursive: true })
  const node = `'${process.execPath}' --disable-warning=ExperimentalWarning`
  const script = join(import.meta.dirname, 'as-etcd.ts')
  await writeFile(path, `#!/bin/sh\nexec ${node} '${script}' "$@"\n`)
  await chmod(path, 0o755)
  return path
}

/** Returns a directory that has the server under etcd's name and etcd's own tools, as etcd's tests want them. */
export async function toolsBeside(server: string): Promise<string> {
  const tools = await buildOfEtcd('etcdctl', 'etcdutl')
  const directory = join(judgesCache, 'tools', Buffer.from(server).toString('base64url'))
  await mkdir(directory, { recursive: true })
  const links = { etcd: server, etcdctl: join(tools, 'etcdctl'), etcdutl: join(tools, 'etcdutl') }
  for (const [name, path] of Object.entries(links)) {
    await rm(join(directory, name), { force: true })
    await symlink(path, join(directory, name))
  }
  return directory
}

/** Builds the Go program of a folder next to this file and returns its path. */
export async function buildOwn(name: string, module: string): Promise<string> {
  const directory = join(judgesCache, name)
  await mkdir(directory, { recursive: true })
  await copyFile(join(import.meta.dirname, name, 'main.go'), join(directory, 'main.go'))
  if (!existsSync(join(directory, 'go.mod'))) {
    await writeFile(join(directory, 'go.mod'), 'module judges\n\ngo 1.26.0\n')
    await go(directory, ['get', module])
    await go(directory, ['mod', 'tidy', '-e'])
  }
  const target = join(bin, name)
  await go(directory, ['build', '-o', target, '.'])
  return target
}

/**
 * A copy of the module of etcd's tests. It takes the published modules instead of the other folders of its repository,
 * and tests that name no number of members start one.
 */
async function etcdTests(): Promise<string> {
  const directory = await copyOf(`go.etcd.io/etcd/tests/v3@${etcdVersion}`, 'etcd-tests')
  const goMod = join(directory, 'go.mod')
  const original = await readFile(goMod, 'utf8')
  const text = original.replace(/^toolchain .*$/m, '').replace(/^replace \([^)]*\)$/m, '')
  await writeFile(goMod, text)
  const settings = join(directory, 'framework/config/cluster.go')
  const defaults = await readFile(settings, 'utf8')
  await writeFile(settings, defaults.replace(/(?<=ClusterSize: +)3(?=,)/, '1'))
  return directory
}

/** Copies a module to a place where it may be changed. */
async function copyOf(module: string, name: string): Promise<string> {
  const directory = join(judgesCache, name)
  if (existsSync(directory)) return directory
  const part = `${directory}.part`
  await rm(part, { recursive: true, force: true })
  await cp(await moduleDirectory(module), part, { recursive: true })
  await mustRun(['chmod', '-R', 'u+w', part])
  await rename(part, directory)
  return directory
}

async function buildOnce(name: string, directory: string, built: Built): Promise<void> {
  const target = join(bin, name)
  if (existsSync(target)) return
  await mkdir(bin, { recursive: true })
  console.error(`Building ${name}`)
  const verb = built.what === 'test' ? ['test', '-c'] : ['build', '-ldflags=-s -w']
  const tags = built.tags === undefined ? [] : ['-tags', built.tags]
  await go(directory, [...verb, ...tags, '-o', `${target}.part`, built.package])
  await rename(`${target}.part`, target)
}

async function moduleDirectory(module: string): Promise<string> {
  const text = await mustRun(['go', 'mod', 'download', '-json', module], { directory: '/' })
  // The command `go mod download -json` prints this type.
  return (JSON.parse(text) as { Dir: string }).Dir
}

async function go(directory: string, args: readonly string[]): Promise<void> {
  const env = { GOFLAGS: '-mod=mod -buildvcs=false' }
  await mustRun(['nice', 'go', ...args], { directory, env })
}
