import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
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

test('a word with a NUL, and too many words, are refused', () => {
  assert.throws(() => wordsOf(['a\0b'], 10), /contains a NUL/)
  assert.throws(() => wordsOf(['a'.repeat(10)], 10), /longer than 10 bytes/)
})
