import assert from 'node:assert/strict'
import { lstat, mkdtemp, readFile, readdir, readlink, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { writeAtomically } from './write-atomically.ts'

async function directoryFor(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-volume-'))
  context.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

const file = (path: string, text: string, mode = 0o644) => ({
  path,
  content: Buffer.from(text),
  mode,
})

test('files appear behind one link, whatever the umask', async (context) => {
  const directory = await directoryFor(context)
  assert.equal(
    await writeAtomically(directory, [file('a', '1', 0o666), file('deep/b', '2')], { nowMs: 1 }),
    true,
  )
  assert.equal(await readFile(join(directory, 'a'), 'utf8'), '1')
  assert.equal(await readFile(join(directory, 'deep/b'), 'utf8'), '2')
  assert.equal(await readlink(join(directory, 'a')), '..data/a')
  assert.equal((await stat(join(directory, 'a'))).mode & 0o777, 0o666)
})

test('an update swaps the link; removed files and the old directory go', async (context) => {
  const directory = await directoryFor(context)
  await writeAtomically(directory, [file('a', 'old'), file('b', 'x')], { nowMs: 1 })
  const before = await readlink(join(directory, '..data'))
  await writeAtomically(directory, [file('a', 'new')], { nowMs: 2 })
  assert.equal(await readFile(join(directory, 'a'), 'utf8'), 'new')
  assert.notEqual(await readlink(join(directory, '..data')), before)
  assert.deepEqual(
    (await readdir(directory)).filter((name) => !name.startsWith('..')),
    ['a'],
  )
  await assert.rejects(lstat(join(directory, before)))
})

test('equal content leaves everything as it is', async (context) => {
  const directory = await directoryFor(context)
  await writeAtomically(directory, [file('a', '1')], { nowMs: 1 })
  assert.equal(await writeAtomically(directory, [file('a', '1')], { nowMs: 2 }), false)
  assert.equal(await writeAtomically(directory, [file('a', '1', 0o600)], { nowMs: 3 }), true)
})

test('a write that was cut short is completed by the next', async (context) => {
  const directory = await directoryFor(context)
  await writeAtomically(directory, [file('a', '1')], { nowMs: 1 })
  await rm(join(directory, '..data'))
  assert.equal(await writeAtomically(directory, [file('a', '1')], { nowMs: 1 }), true)
  assert.equal(await readFile(join(directory, 'a'), 'utf8'), '1')
})

for (const path of ['../x', '/x', 'a/../../x', '..x', '']) {
  test(`"${path}" is refused`, async (context) => {
    const directory = await directoryFor(context)
    await assert.rejects(writeAtomically(directory, [file(path, '1')], { nowMs: 1 }), RangeError)
  })
}
