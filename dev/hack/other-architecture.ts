/**
 * Proves on x86_64 that machines of aarch64 get a program that works: makes the executable of Node's own npm package for
 * them, lets an emulator of their instructions start it and serve a site to kubectl, and makes an offline package of it.
 * Development only, some minutes:
 *   node dev/hack/other-architecture.ts
 * Needs root, apt, mmdebstrap and npm, the mirror of Debian and the registry of npm. Downloads stay below
 * node_modules/.cache; nothing is installed or registered on the host.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import { createTestNetwork, unpackClients, type TestHost } from '@skerry/testing'
import { RoleProcess } from '../e2e/role-process.ts'
import { waitFor } from '../e2e/wait-for.ts'
import {
  buildForeignProgram,
  fetchEmulator,
  foreignCache,
  isThere,
} from './other-architecture/foreign-program.ts'

const execute = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const launcher = join(root, 'skerry')
/** The libraries with which Node is linked; a machine gets them with its packages. */
const libraries = ['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1']
/** Emulated, a site starts in a minute. */
const patienceMs = 300_000

interface Parts {
  /** Starts the program of the other architecture. */
  readonly program: readonly [string, ...string[]]
  readonly executable: string
  readonly scratch: string
}

const chapters: readonly (readonly [string, (parts: Parts) => Promise<string>])[] = [
  ['the program starts', starts],
  ['its site serves kubectl, and stops when it is told', serves],
  ['an offline package has it, with system packages and an etcd', packs],
]

async function main(): Promise<void> {
  if (process.arch !== 'x64') {
    const text = 'Cannot prove: the script emulates aarch64 on x86_64'
    throw new ExpectedError(text, exitCodes.usage)
  }
  await mkdir(foreignCache, { recursive: true })
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-other-architecture-'))
  try {
    const [emulator, libraryRoot] = [await fetchEmulator(), await fetchRoot()]
    const executable = join(scratch, 'skerry-linux-arm64')
    await buildForeignProgram(executable)
    const program = [emulator, '-L', libraryRoot, executable] as const
    for (const [title, play] of chapters) {
      const startMs = performance.now()
      const result = await play({ program, executable, scratch })
      console.log(`${title}: ${result} (${((performance.now() - startMs) / 1_000).toFixed(1)} s)`)
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function starts({ program: [emulator, ...words] }: Parts): Promise<string> {
  const { stdout } = await execute(emulator, [...words, '--version'])
  const { stdout: schema } = await execute(emulator, [...words, 'machine', 'store-schema'])
  assert.match(schema, /^\d+\n$/)
  return stdout.trim()
}

async function serves({ program, scratch }: Parts): Promise<string> {
  await using network = await createTestNetwork()
  const host = await network.addHost(1)
  const dataDirectory = join(scratch, 'site')
  const site = new RoleProcess({
    host,
    name: 'site',
    command: [...program, 'site', '--data-dir', dataDirectory],
    logFile: join(scratch, 'site.log'),
  })
  await site.start()
  const kubectl = await kubectlOf(host, join(dataDirectory, 'admin.kubeconfig'))
  const isReady = async () =>
    (await kubectl('get', '--raw', '/readyz')) === 'ok' ? true : undefined
  await waitFor('the emulated site to be ready', isReady, { timeoutMs: patienceMs })
  await kubectl('create', 'configmap', 'greeting', '--from-literal=text=hello')
  const text = await kubectl('get', 'configmap', 'greeting', '-o', 'jsonpath={.data.text}')
  assert.equal(text, 'hello')
  const version = await kubectl('version', '-o', 'json')
  assert.match(version ?? '', /"platform": "linux\/arm64"/)
  assert.equal(await site.stop(), 0)
  return 'linux/arm64'
}

/** Resolves with a function that runs kubectl on a host, and resolves with undefined if it fails. */
async function kubectlOf(
  host: TestHost,
  kubeconfig: string,
): Promise<(...args: string[]) => Promise<string | undefined>> {
  const { kubectl } = await unpackClients()
  return async (...args) => {
    const command = [kubectl, '--kubeconfig', kubeconfig, ...args]
    const { exitCode, stdout } = await host.run(command, { timeoutMs: 60_000 })
    return exitCode === 0 ? stdout : undefined
  }
}

async function packs({ executable, scratch }: Parts): Promise<string> {
  const key = join(scratch, 'operator')
  const output = join(scratch, 'package')
  await execute(launcher, ['package', 'key', '--output', key])
  const wanted = ['--release', 'debian-12', '--architecture', 'aarch64', '--etcd']
  const given = ['--machine-program', `aarch64=${executable}`]
  const kept = ['--cache-dir', join(root, 'node_modules/.cache/skerry-packages')]
  const made = ['--key', `${key}.key`, '--output', output]
  await execute(launcher, ['package', 'create', ...made, ...wanted, ...given, ...kept])
  const verify = ['package', 'verify', output, '--public-key', `${key}.pub`]
  const { stdout } = await execute(launcher, verify)
  assert.doesNotMatch(stdout, /x86_64/)
  return stdout.split('\n')[0] ?? ''
}

/** No program of the root is started, so that the kernel need not know the architecture. */
async function fetchRoot(): Promise<string> {
  const path = join(foreignCache, 'libraries')
  if (await isThere(join(path, 'lib/ld-linux-aarch64.so.1'))) return path
  await rm(path, { recursive: true, force: true })
  const words = ['--quiet', '--mode=root', '--variant=extract', '--architectures=arm64']
  await execute('mmdebstrap', [...words, `--include=${libraries.join(',')}`, 'bookworm', path])
  return path
}

await main()
