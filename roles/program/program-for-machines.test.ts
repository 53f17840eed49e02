import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { ProgramFiles } from '@skerry/provisioning'
import { programForMachines } from './program-for-machines.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const own = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

async function withDirectory(act: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-program-'))
  try {
    await act(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

for (const architecture of ['riscv64', '__proto__', 'constructor', '../x', '']) {
  test(`there is no program for ${JSON.stringify(architecture)}`, async () => {
    const options = { archiveDirectory: '/nowhere', programs: {}, role: 'hub' as const }
    await assert.rejects(programForMachines(architecture, options, soon()), /has no program for/)
  })
}

test('a given executable is named after its content', async () => {
  await withDirectory(async (directory) => {
    const path = join(directory, 'skerry')
    const options = {
      archiveDirectory: directory,
      programs: { riscv64: [path] },
      role: 'hub' as const,
    }
    await writeFile(path, 'one')
    const one = await programForMachines('riscv64', options, soon())
    await writeFile(path, 'two')
    const two = await programForMachines('riscv64', options, soon())
    assert.deepEqual(one.files, [{ from: path, to: 'skerry', mode: 0o755 }])
    assert.notEqual(one.version, two.version)
    assert.match(one.launcher('/usr/local/lib/x'), /\nexec \/usr\/local\/lib\/x\/skerry "\$@"\n$/)
  })
})

test('an upgrade on the same engine brings a machine another archive, and no other engine', async () => {
  await withDirectory(async (directory) => {
    const versions: ProgramFiles[] = []
    for (const text of ['one', 'two']) {
      const bundle = join(directory, text)
      await mkdir(join(bundle, 'chunks'), { recursive: true })
      await mkdir(join(bundle, 'engine-flags'))
      await writeFile(join(bundle, 'skerry.mjs'), text)
      const archiveDirectory = join(directory, 'archives')
      const options = { archiveDirectory, bundleDirectory: bundle, role: 'hub' as const }
      versions.push(await programForMachines(own, options, soon()))
    }
    const [one, two] = versions
    assert.notEqual(one?.version, two?.version)
    assert.notEqual(one?.archive, two?.archive)
    // It lies next to the directories of all versions, so a machine that has it is not sent it again.
    assert.match(one?.files[0]?.to ?? '', /^\.\.\/node-[^/]+$/)
    assert.deepEqual(one?.files, two?.files)
  })
})

test('machines that ask at once get one whole archive with the chunks that the entry needs', async () => {
  await withDirectory(async (directory) => {
    const bundle = join(directory, 'dist')
    const archiveDirectory = join(directory, 'archives')
    await mkdir(join(bundle, 'chunks'), { recursive: true })
    await mkdir(join(bundle, 'engine-flags'))
    await writeFile(join(bundle, 'engine-flags', 'hub'), '')
    await writeFile(join(bundle, 'skerry.mjs'), "import './chunks/used-ABCDEFGH.mjs'")
    await writeFile(join(bundle, 'chunks', 'used-ABCDEFGH.mjs'), '// x\n'.repeat(200_000))
    await writeFile(join(bundle, 'chunks', 'old-ABCDEFGH.mjs'), '')
    const options = { archiveDirectory, bundleDirectory: bundle, role: 'hub' as const }
    const programs = await Promise.all(
      Array.from({ length: 5 }, () => programForMachines(own, options, soon())),
    )
    assert.equal(new Set(programs.map(({ archive }) => archive)).size, 1)
    assert.equal((await readdir(archiveDirectory)).length, 1)
    const { stdout } = await promisify(execFile)('tar', ['-tf', programs[0]?.archive ?? ''])
    const names = ['chunks/used-ABCDEFGH.mjs', 'engine-flags/hub', 'skerry.mjs']
    assert.deepEqual(stdout.trim().split('\n'), names)
  })
})
