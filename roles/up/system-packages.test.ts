import assert from 'node:assert/strict'
import { chmod, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import type { SystemProgram } from './programs-table.ts'
import { findMissingPrograms, packagesOf } from './system-packages.ts'

const common = { debianPackage: 'some', neededBy: 'tests' } as const
const node: SystemProgram = {
  ...common,
  program: basename(process.execPath),
  directories: [dirname(process.execPath)],
}

test('a program is found by name where it belongs, and only its users need it', async () => {
  const absent: SystemProgram = { ...common, program: 'absent', debianPackage: 'other' }
  const missing = await findMissingPrograms(['tests'], [node, absent, absent])
  assert.deepEqual(packagesOf(missing), ['other'])
  assert.deepEqual(await findMissingPrograms(['node'], [absent]), [])
})

test('a program of the same name that is linked with libraries is not the static one', async () => {
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'skerry-programs-'))
  const path = join(scratch.path, 'plain')
  await writeFile(path, '\x7fELF and no loader')
  await chmod(path, 0o755)
  const plain: SystemProgram = { ...common, program: 'plain', directories: [scratch.path] }
  const asked = [node, plain].map((each) => ({ ...each, isStatic: true }))
  const missing = await findMissingPrograms(['tests'], asked)
  assert.deepEqual(
    missing.map(({ program }) => program),
    [node.program],
  )
})
