import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestOptions } from 'node:test'
import { provisioningBounds } from '../limits-table.ts'
import { ShellError, type DigestedFile, type Shell } from '../contract/shell.ts'

export interface ShellSubject extends AsyncDisposable {
  readonly shell: Shell
  /** Puts a file on the machine, past the shell. */
  plant(path: string, content: Uint8Array): Promise<void>
}

/** Opens a shell of a machine for each test; the machine may be the same. */
export type OpenSubject = () => Promise<ShellSubject>

const bounds = provisioningBounds.shell

/** Words that a shell would read as something else. */
const oddWords = [
  'two words',
  `it's "quoted"`,
  'line\nline\n',
  '$(id) `id` ${HOME} $HOME',
  'a; id & id | id > /tmp/odd',
  '--help',
  '-n',
  '*',
  '~',
  '\\n\\',
  '',
  'ü\u{1f600}',
]

/** Tests the behaviour required of every shell. */
export function shellContract(name: string, open: OpenSubject, options: TestOptions = {}): void {
  describe(`shell contract: ${name}`, options, () => {
    commandTests(open)
    boundTests(open)
    fileTests(open)
    uploadTests(open)
    digestTests(open)
  })
}

function commandTests(open: OpenSubject): void {
  test('a command ends with its exit code, and its two outputs do not mix', async () => {
    await using subject = await open()
    const { shell } = subject
    assert.equal((await shell.run(['true'])).exitCode, 0)
    assert.equal((await shell.run(['false'])).exitCode, 1)
    assert.equal((await shell.run(['no-such-program'])).exitCode, 127)
    const { exitCode, stdout, stderr } = await shell.run(['cat', '/no/such/file'])
    assert.deepEqual([exitCode, stdout], [1, ''])
    assert.match(stderr, /No such file/)
  })

  test('words arrive as they are', async () => {
    await using subject = await open()
    const { exitCode, stdout } = await subject.shell.run(['printf', '[%s]\n', ...oddWords])
    assert.equal(exitCode, 0)
    assert.equal(stdout, oddWords.map((word) => `[${word}]\n`).join(''))
  })

  test('the standard input arrives whole, and is empty if none is given', async () => {
    await using subject = await open()
    const input = `${'x'.repeat(300_000)}\n$(id)\n`
    assert.equal((await subject.shell.run(['cat'], { input })).stdout, input)
    assert.equal((await subject.shell.run(['cat'])).stdout, '')
  })

  test('commands that run at the same time do not mix', async () => {
    await using subject = await open()
    const inputs = Array.from({ length: 5 }, (_, at) => `input ${at}`)
    const runs = inputs.map((input) => subject.shell.run(['cat'], { input }))
    const results = await Promise.all(runs)
    assert.deepEqual(
      results.map(({ stdout }) => stdout),
      inputs,
    )
  })

  test('a word with a NUL, and words beyond the bound, are refused before anything runs', async () => {
    await using subject = await open()
    await assert.rejects(subject.shell.run(['printf', 'a\0b']), RangeError)
    const long = 'x'.repeat(bounds.argumentBytesMax)
    await assert.rejects(subject.shell.run(['printf', long]), RangeError)
  })
}

function boundTests(open: OpenSubject): void {
  test('a command that prints without end is ended, and the next one runs', async () => {
    await using subject = await open()
    await assert.rejects(subject.shell.run(['yes']), isFault('misbehaves'))
    assert.equal((await subject.shell.run(['true'])).exitCode, 0)
  })

  test('a command that never ends is ended when its time is up, on the machine as well', async () => {
    await using subject = await open()
    const { shell } = subject
    const endless = shell.run(['sleep', '987654'], { timeoutMs: 300 })
    await assert.rejects(endless, isFault('misbehaves'))
    const { stdout } = await shell.run(['pgrep', '-f', 'sleep 98765[4]'])
    assert.equal(stdout, '')
  })

  test('a command that is called off ends, on the machine as well', async () => {
    await using subject = await open()
    const { shell } = subject
    const stop = new AbortController()
    const endless = shell.run(['sleep', '987653'], { signal: stop.signal })
    const reason = new Error('a person has cancelled it')
    const refused = assert.rejects(endless, reason)
    // Each look is a whole call to the machine, so few are needed.
    for (let looks = 0; looks < 100; looks++) {
      if ((await shell.run(['pgrep', '-f', 'sleep 98765[3]'])).exitCode === 0) break
    }
    stop.abort(reason)
    await refused
    const { stdout } = await shell.run(['pgrep', '-f', 'sleep 98765[3]'])
    assert.equal(stdout, '')
  })
}

function fileTests(open: OpenSubject): void {
  test('a file is written whole with its permissions, in a directory that is made', async () => {
    await using subject = await open()
    const { shell } = subject
    for (const [mode, content] of [
      [0o600, 'secret $(id)\n'],
      [0o755, ''],
      [0o644, 'x'.repeat(200_000)],
    ] as const) {
      const path = `/var/lib/contract/new dir/it's; a "file"`
      await shell.write(path, content, mode)
      assert.equal((await shell.run(['cat', path])).stdout, content)
      assert.equal((await shell.run(['stat', '-c', '%a', path])).stdout, `${mode.toString(8)}\n`)
    }
  })

  test('a file that cannot be written is refused, and the former content stays', async () => {
    await using subject = await open()
    const { shell } = subject
    await shell.write('/var/lib/contract/file', 'before', 0o644)
    await assert.rejects(shell.write('/var/lib/contract/file/below', 'x', 0o644), isFault('file'))
    assert.equal((await shell.run(['cat', '/var/lib/contract/file'])).stdout, 'before')
  })
}

function uploadTests(open: OpenSubject): void {
  test('a file is copied whole; one that broke off continues, and a damaged part is not used', async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'skerry-shell-'))
    await using _removed = {
      [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }),
    }
    await using subject = await open()
    const { shell } = subject
    const { signal } = new AbortController()
    const to = '/var/lib/contract/copied'
    for (const damage of ['none', 'half', 'wrong', 'longer', 'empty'] as const) {
      const content = damage === 'empty' ? Buffer.alloc(0) : randomBytes(300_000)
      const from = join(scratch, damage)
      await writeFile(from, content)
      const digest = await digestIn(shell, content)
      const part = `/var/lib/skerry/incoming/${digest}`
      if (damage === 'half') await subject.plant(part, content.subarray(0, 100_000))
      if (damage === 'longer') await subject.plant(part, Buffer.concat([content, content]))
      if (damage === 'wrong') {
        await subject.plant(part, Buffer.alloc(100_000))
        await assert.rejects(shell.upload(from, to, 0o755, signal), isFault('file'))
      }
      await shell.upload(from, to, 0o755, signal)
      assert.equal((await shell.run(['sha256sum', to])).stdout.slice(0, 64), digest, damage)
      assert.equal((await shell.run(['stat', '-c', '%a', to])).stdout, '755\n')
      assert.equal((await shell.run(['test', '-e', part])).exitCode, 1, 'no part stays')
    }
  })
}

function digestTests(open: OpenSubject): void {
  const directory = '/var/lib/contract/by-digest'
  const { signal } = new AbortController()

  test('files are copied under their digests; one that broke off continues', async () => {
    await using made = await ownFiles(['one', '', 'x'.repeat(200_000)])
    await using subject = await open()
    const { shell } = subject
    const [, , long] = made.files
    const part = `/var/lib/skerry/incoming/${long?.sha256}`
    await shell.uploadByDigest(made.files.slice(0, 1), directory, signal)
    await subject.plant(part, Buffer.from('x'.repeat(50_000)))
    await shell.uploadByDigest(made.files, directory, signal)
    for (const { sha256 } of made.files) {
      const path = `${directory}/${sha256}`
      assert.equal((await shell.run(['sha256sum', path])).stdout.slice(0, 64), sha256)
      assert.equal((await shell.run(['stat', '-c', '%a %U', path])).stdout, '600 root\n')
    }
    assert.equal((await shell.run(['stat', '-c', '%a', directory])).stdout, '700\n')
  })

  test('a damaged part is thrown away, and none of the files appears', async () => {
    await using made = await ownFiles(['first', 'second'])
    await using subject = await open()
    const { shell } = subject
    // Another shell of the same machine may have passed this test.
    const place = `${directory}-${randomBytes(4).toString('hex')}`
    await shell.run(['mkdir', '-p', '/var/lib/skerry/incoming'])
    const part = `/var/lib/skerry/incoming/${made.files[1]?.sha256}`
    await shell.uploadByDigest([], place, signal)
    await subject.plant(part, Buffer.from('SECO'))
    await assert.rejects(shell.uploadByDigest(made.files, place, signal), isFault('file'))
    assert.equal((await shell.run(['sh', '-c', `ls ${place}/*`])).exitCode, 2)
    await shell.uploadByDigest(made.files, place, signal)
    assert.equal((await shell.run(['cat', `${place}/${made.files[1]?.sha256}`])).stdout, 'second')
  })

  test('a file of this machine whose content differs from its digest is not sent', async () => {
    await using made = await ownFiles(['right'])
    await using subject = await open()
    const [file] = made.files
    assert.ok(file)
    for (const content of ['wrong', 'right and longer', 'righ']) {
      await writeFile(file.from, content)
      const sent = subject.shell.uploadByDigest([file], `${directory}-wrong`, signal)
      await assert.rejects(sent, /its content differs from its digest/)
    }
  })
}

interface OwnFiles extends AsyncDisposable {
  readonly files: readonly DigestedFile[]
}

async function ownFiles(contents: readonly string[]): Promise<OwnFiles> {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-shell-'))
  const files: DigestedFile[] = []
  for (const content of contents) {
    const sha256 = createHash('sha256').update(content).digest('hex')
    await writeFile(join(scratch, sha256), content)
    files.push({ from: join(scratch, sha256), sha256, bytes: content.length })
  }
  return {
    files,
    [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }),
  }
}

async function digestIn(shell: Shell, input: Uint8Array): Promise<string> {
  return (await shell.run(['sha256sum'], { input })).stdout.slice(0, 64)
}

function isFault(fault: ShellError['fault']): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ShellError, String(error))
    assert.equal(error.fault, fault, error.message)
    return true
  }
}
