import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { chooseProgram, NoProgramError, ownArchitecture, versionOf } from './held-programs.ts'
import { heldPrograms, programForMachines } from './program-for-machines.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const other = ownArchitecture === 'x86_64' ? 'aarch64' : 'x86_64'

async function withPrograms(
  texts: Readonly<Record<string, string>>,
  act: (at: (name: string) => string, directory: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-held-'))
  try {
    for (const [name, text] of Object.entries(texts)) {
      await writeFile(join(directory, name), text)
      await chmod(join(directory, name), 0o755)
    }
    await act((name) => join(directory, name), directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

const telling = (version: string): string => `#!/bin/sh\necho '${version}'\n`

test('a program for this architecture says its version, and one for another has it as a mark', async () => {
  const mark = `${'x'.repeat(70_000)}//skerry-version=0.3.1;\n`
  await withPrograms({ own: telling('0.2.0'), foreign: mark, bare: 'no mark' }, async (at) => {
    assert.match(await versionOf(at('own'), ownArchitecture), /^0\.2\.0-[0-9a-f]{12}$/)
    assert.match(await versionOf(at('foreign'), other), /^0\.3\.1-[0-9a-f]{12}$/)
    assert.match(await versionOf(at('bare'), other), /^\d+\.\d+\.\d+-[0-9a-f]{12}$/)
  })
})

test('a mark that lies across two pieces of a file is found', async () => {
  const text = `${'x'.repeat(64 * 1024 - 10)}skerry-version=0.3.1;${'x'.repeat(64 * 1024)}`
  await withPrograms({ foreign: text }, async (at) => {
    assert.match(await versionOf(at('foreign'), other), /^0\.3\.1-/)
  })
})

test('a program that does not start, or says an odd version, is refused with its path', async () => {
  const texts = { broken: '#!/bin/sh\nexit 1\n', odd: telling('1;touch /x'), up: telling('../..') }
  await withPrograms(texts, async (at) => {
    for (const name of ['broken', 'odd', 'up']) {
      await assert.rejects(versionOf(at(name), ownArchitecture), (error) => {
        assert.ok(error instanceof NoProgramError)
        assert.ok(error.message.includes(at(name)))
        return true
      })
    }
  })
})

const held = [
  '0.1.0-aaaaaaaaaaaa',
  '0.2.0-bbbbbbbbbbbb',
  '0.2.0-cccccccccccc',
  '0.3.0-dddddddddddd',
]
const programs = held.map((version) => ({ architecture: 'x86_64', version, path: `/${version}` }))

test('a version is chosen by its number if there is one of it, and else by its digest', () => {
  const choose = (version: string): string =>
    chooseProgram(programs, { architecture: 'x86_64', wish: { version }, role: 'hub' }).version
  assert.equal(choose('0.1.0'), held[0])
  assert.equal(choose('0.2.0-cccccccccccc'), held[2])
  assert.throws(
    () => choose('0.2.0'),
    /has several programs 0\.2\.0 .* 0\.2\.0-bbbb.*, 0\.2\.0-cccc/,
  )
  assert.throws(() => choose('0.9.0'), /has no program 0\.9\.0 for x86_64: it has 0\.1\.0-aaaa/)
})

test('without a wish the newest is chosen, and for a node one that fits its master', () => {
  const choose = (wish: { fitsMaster: string } | undefined): string =>
    chooseProgram(programs, { architecture: 'x86_64', wish, role: 'hub' }).version
  assert.equal(choose(undefined), held[3])
  assert.equal(choose({ fitsMaster: '0.2.0-bbbbbbbbbbbb' }), held[1])
  assert.equal(choose({ fitsMaster: '0.2.7-eeeeeeeeeeee' }), held[2])
  assert.throws(() => choose({ fitsMaster: '0.0.9' }), /none fits a master of 0\.0\.9/)
})

test('a hub lists the programs that it was given and its own, and hands out the one that is asked for', async () => {
  const texts = { one: telling('0.2.0'), two: telling('0.3.0'), 'skerry.mjs': '' }
  await withPrograms(texts, async (at, directory) => {
    const options = {
      archiveDirectory: directory,
      bundleDirectory: directory,
      programs: { [ownArchitecture]: [at('one'), at('two')] },
      role: 'hub' as const,
    }
    const list = await heldPrograms(options, soon())
    assert.equal(list.length, 3)
    assert.equal(list.filter(({ path }) => path === undefined).length, 1)
    const wanted = { version: '0.2.0' }
    const program = await programForMachines(ownArchitecture, options, soon(), wanted)
    assert.equal(program.files[0]?.from, at('one'))
    const directoryOnMachine = `/usr/local/lib/skerry/${program.version}`
    assert.match(
      program.launcher(directoryOnMachine),
      new RegExp(`SKERRY_PROGRAM=${program.version}\n`),
    )
  })
})
