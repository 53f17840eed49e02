import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { runScript, wordsOf } from './remote-run.ts'

const execute = promisify(execFile)

const words: readonly (readonly string[])[] = [
  ['plain'],
  ['two words', ''],
  ['$(touch /tmp/owned)', '`id`', '$HOME', '%n'],
  ['"quoted"', "it's", '\\', '\n', '*', '~', '-n', ';reboot', '&&', '|', '>x'],
]
for (const list of words) {
  test(`a command gets its words ${JSON.stringify(list)} as they are`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'skerry-run-'))
    try {
      await writeFile(join(directory, 'run'), runScript)
      await writeFile(join(directory, 'args-1'), wordsOf(['printf', '[%s]', ...list], 65_536))
      const { stdout } = await execute('sh', [join(directory, 'run'), '1', directory, '30'])
      assert.equal(stdout, list.map((word) => `[${word}]`).join(''))
      assert.deepEqual(await readdir(directory), ['run'])
    } finally {
      await rm(directory, { recursive: true })
    }
  })
}

test('the exit code of a command is kept', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-run-'))
  try {
    await writeFile(join(directory, 'run'), runScript)
    await writeFile(join(directory, 'args-1'), wordsOf(['sh', '-c', 'exit 7'], 65_536))
    const run = execute('sh', [join(directory, 'run'), '1', directory, '30'])
    await assert.rejects(run, (error: Error) => 'code' in error && error.code === 7)
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('a login removes the directories of logins before the last boot, and nothing else', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'skerry-run-'))
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
    const logins = {
      own: [],
      other: [`boot-${boot}`],
      earlier: ['boot-1', 'args-26'],
      beginning: [],
    }
    for (const [name, files] of Object.entries(logins)) {
      await mkdir(join(parent, `.skerry-${name}`))
      for (const file of ['run', ...files]) {
        await writeFile(join(parent, `.skerry-${name}`, file), runScript)
      }
    }
    await mkdir(join(parent, 'elsewhere'))
    await writeFile(join(parent, 'elsewhere', 'boot-1'), '')
    await symlink('elsewhere', join(parent, '.skerry-link'))
    const own = join(parent, '.skerry-own')
    const staying = execute('sh', [join(own, 'run'), '0', own, 'stay'])
    staying.child.stdin?.end()
    await staying
    const left = (await readdir(parent)).toSorted()
    assert.deepEqual(left, ['.skerry-beginning', '.skerry-link', '.skerry-other', 'elsewhere'])
    assert.deepEqual(await readdir(join(parent, 'elsewhere')), ['boot-1'])
  } finally {
    await rm(parent, { recursive: true })
  }
})

test('a word with a NUL, and too many words, are refused', () => {
  assert.throws(() => wordsOf(['a\0b'], 10), /contains a NUL/)
  assert.throws(() => wordsOf(['a'.repeat(10)], 10), /longer than 10 bytes/)
})
