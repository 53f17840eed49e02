import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { version } from '../../roles/runtime/version.ts'
import { buildProgram } from './build.ts'

const execute = promisify(execFile)
const root = join(import.meta.dirname, '../..')

test('the single executable says its version and serves an API, without Node or sources', async () => {
  await using scratch = await scratchDirectory()
  const built = await buildProgram({ outputDir: scratch.path, executable: true })
  const [, executable = ''] = built
  const { stdout } = await execute(executable, ['--version'], { env: {}, cwd: scratch.path })
  assert.equal(stdout.trim(), version)
  await assertSiteServes(executable, [], scratch.path)
})

test('the packed npm package starts from its bundle, without TypeScript', async () => {
  await using scratch = await scratchDirectory()
  const tarball = await pack(scratch.path)
  const home = join(scratch.path, 'node_modules', 'skerry')
  await mkdir(home, { recursive: true })
  await execute('tar', ['-xzf', tarball, '-C', home, '--strip-components=1'])
  const node = `node-linux-${process.arch}`
  await symlink(join(root, 'node_modules', node), join(scratch.path, 'node_modules', node))
  const { stdout: files } = await execute('find', [home, '-name', '*.ts'])
  assert.equal(files, '')
  const launcher = join(home, 'skerry')
  const { stdout } = await execute(launcher, ['--version'])
  assert.equal(stdout.trim(), version)
  await assert.rejects(execute(launcher, ['build']), /it needs the sources/)
  await assertSiteServes(launcher, [], scratch.path)
})

/** Packs like npm, but with the program built here: prepack would need dist/ to itself. */
async function pack(directory: string): Promise<string> {
  const tree = join(directory, 'tree')
  await mkdir(tree)
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  assert.ok(typeof manifest === 'object' && manifest !== null && 'files' in manifest)
  await buildProgram({ outputDir: join(tree, 'dist'), executable: false })
  for (const name of ['package.json', 'skerry', 'LICENSE', 'packaging'])
    await execute('cp', ['-r', join(root, name), tree])
  const { stdout } = await execute('npm', ['pack', '--ignore-scripts', '--json'], { cwd: tree })
  const filename = /"filename":\s*"([^"]+)"/.exec(stdout)?.[1] ?? ''
  return join(tree, filename)
}

async function assertSiteServes(
  command: string,
  args: readonly string[],
  directory: string,
): Promise<void> {
  const dataDir = join(directory, 'site')
  const child = spawn(command, [...args, 'site', '--data-dir', dataDir, '--port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const output = { log: '' }
  child.stderr?.on('data', (text: Buffer) => (output.log += text.toString()))
  try {
    await once(child, 'message', { signal: AbortSignal.timeout(30_000) }).catch(
      (cause: unknown) => {
        throw new Error(`The site did not become ready: ${output.log}`, { cause })
      },
    )
    assert.match(await readFile(join(dataDir, 'admin.kubeconfig'), 'utf8'), /server: https:/)
  } finally {
    await stop(child)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function scratchDirectory(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'skerry-build-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
