import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { CopiedFile } from '../kind/edge-cluster.ts'
import type { RunResult, Shell } from '../contract/shell.ts'
import { contextOn } from '../testing/target-scene.ts'
import { cleanMachine } from './clean-machine.ts'
import { copyFiles } from './hooks.ts'

interface Machine extends AsyncDisposable {
  readonly shell: Shell
  /** Returns the place of a path of the machine on this one. */
  readonly at: (path: string) => string
}

/** A machine whose files are below a directory: real commands run, with every path of ours moved there. */
async function startMachine(): Promise<Machine> {
  const root = await mkdtemp(join(tmpdir(), 'skerry-files-'))
  const at = (path: string): string => join(root, path)
  const moved = (word: string): string =>
    word.replaceAll(/(?<![\w/.-])\/(etc|var|usr\/local)(?![\w.-])/g, `${root}/$1`)
  const shell: Shell = {
    hostKey: 'SHA256:x',
    async run(command) {
      const result = await execute(command.map(moved))
      return { ...result, stdout: result.stdout.replaceAll(root, '') }
    },
    async write(path, content, mode) {
      await mkdir(dirname(at(path)), { recursive: true })
      const text = path.startsWith('/var/lib/skerry/')
        ? moved(Buffer.from(content).toString())
        : content
      await writeFile(at(path), text, { mode })
    },
    upload: async () => undefined,
    uploadByDigest: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }
  await mkdir(at('/etc'), { recursive: true })
  return { shell, at, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) }
}

function execute([program = '', ...words]: readonly string[]): Promise<RunResult> {
  return new Promise((resolve) => {
    const child = execFile(program, words, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

const fileTo = (path: string): CopiedFile => ({
  from: { configMap: 'files', key: path.slice(1) },
  path,
})

async function copy({ shell }: Machine, contents: Readonly<Record<string, string>>): Promise<void> {
  const files = Object.keys(contents).map(fileTo)
  const hub = { read: async ({ key }: { key: string }) => Buffer.from(contents[`/${key}`] ?? '') }
  await copyFiles(
    contextOn('10.0.0.2', { spec: { files }, known: [], shells: { '10.0.0.2': shell }, hub }),
  )
}

const clean = ({ shell }: Machine): Promise<string> =>
  cleanMachine(contextOn('10.0.0.2', { known: [], shells: { '10.0.0.2': shell } }))

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

test('files that were copied go with the cleaning, and directories that were made for them', async () => {
  await using machine = await startMachine()
  await mkdir(machine.at('/etc/app'))
  await copy(machine, { '/etc/app/a.conf': 'a', '/etc/new/deep/b.conf': 'b' })
  await copy(machine, { '/etc/app/a.conf': 'changed', '/etc/new/deep/b.conf': 'b' })
  assert.equal(await readFile(machine.at('/etc/app/a.conf'), 'utf8'), 'changed')
  assert.equal(await clean(machine), 'clean')
  assert.deepEqual(await readdir(machine.at('/etc')), ['app'])
  assert.deepEqual(await readdir(machine.at('/etc/app')), [])
  assert.equal(await exists(machine.at('/var/lib/skerry')), false)
})

test('a file that was there before comes back with its permissions', async () => {
  await using machine = await startMachine()
  await writeFile(machine.at('/etc/resolv.conf'), 'before', { mode: 0o640 })
  await copy(machine, { '/etc/resolv.conf': 'ours' })
  await copy(machine, { '/etc/resolv.conf': 'ours, later' })
  await clean(machine)
  assert.equal(await readFile(machine.at('/etc/resolv.conf'), 'utf8'), 'before')
  assert.equal((await stat(machine.at('/etc/resolv.conf'))).mode & 0o777, 0o640)
})

test('a file that somebody has changed stays, and so does its directory', async () => {
  await using machine = await startMachine()
  await copy(machine, { '/etc/new/a.conf': 'ours' })
  await writeFile(machine.at('/etc/new/a.conf'), 'theirs')
  await clean(machine)
  assert.equal(await readFile(machine.at('/etc/new/a.conf'), 'utf8'), 'theirs')
})

test('files that are not named any more go with the next copy, as with the cleaning; changed ones stay', async () => {
  await using machine = await startMachine()
  await writeFile(machine.at('/etc/motd'), 'before')
  await copy(machine, { '/etc/motd': 'ours', '/etc/app/a': 'a', '/etc/app/b': 'b', '/etc/c': 'c' })
  await writeFile(machine.at('/etc/c'), 'theirs')
  await copy(machine, { '/etc/app/b': 'b' })
  assert.equal(await readFile(machine.at('/etc/motd'), 'utf8'), 'before')
  assert.deepEqual(await readdir(machine.at('/etc/app')), ['b'])
  assert.equal(await readFile(machine.at('/etc/c'), 'utf8'), 'theirs')
  await copy(machine, {})
  assert.equal(await exists(machine.at('/etc/app')), false)
  await clean(machine)
  assert.deepEqual((await readdir(machine.at('/etc'))).toSorted(), ['c', 'motd'])
})

test('a file where a directory is, is refused before anything is copied', async () => {
  await using machine = await startMachine()
  await mkdir(machine.at('/etc/app'))
  await assert.rejects(copy(machine, { '/etc/b': 'b', '/etc/app': 'a' }), /which is a directory/)
  assert.equal(await exists(machine.at('/etc/b')), false)
})

test('a machine with the state of a node, but without the program, is not taken apart', async () => {
  await using machine = await startMachine()
  await mkdir(machine.at('/var/lib/skerry'), { recursive: true })
  await writeFile(machine.at('/var/lib/skerry/settings.json'), '{}')
  await assert.rejects(clean(machine), /repeat the step InstallProgram/)
  assert.equal(await exists(machine.at('/var/lib/skerry/settings.json')), true)
})
