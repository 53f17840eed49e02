import type { RunResult, Shell } from '../contract/shell.ts'

/** A machine that remembers the files that it gets and the commands that it runs. */
export interface FakeShell extends Shell {
  readonly files: Map<string, string>
  readonly modes: Map<string, number>
  readonly commands: string[][]
}

/** Returns the answer to a command; undefined for one that ends well and prints nothing. */
export type FakeAnswer = (
  command: readonly string[],
  files: Map<string, string>,
) => Partial<RunResult> | undefined

/** Makes a machine whose commands are answered as told; `cat`, `test -e` and `ls -A` know its files. */
export function fakeShell(answer: FakeAnswer = () => undefined): FakeShell {
  const files = new Map<string, string>()
  const modes = new Map<string, number>()
  const commands: string[][] = []
  return {
    hostKey: `SHA256:${'a'.repeat(43)}`,
    files,
    modes,
    commands,
    async run(command) {
      commands.push([...command])
      const told = answer(command, files) ?? ofFiles(command, files)
      return { exitCode: 0, stdout: '', stderr: '', ...told }
    },
    async write(path, content, mode) {
      files.set(path, typeof content === 'string' ? content : Buffer.from(content).toString())
      modes.set(path, mode)
    },
    upload: async () => undefined,
    uploadByDigest: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function ofFiles(
  [program, ...rest]: readonly string[],
  files: Map<string, string>,
): Partial<RunResult> | undefined {
  const path = rest.at(-1) ?? ''
  if (program === 'cat') {
    const stdout = files.get(path)
    return stdout === undefined ? { exitCode: 1, stderr: 'No such file' } : { stdout }
  }
  if (program === 'test') {
    const isThere = [...files.keys()].some((each) => each === path || each.startsWith(`${path}/`))
    return { exitCode: isThere ? 0 : 1 }
  }
  if (program === 'ls') {
    const below = [...files.keys()].filter((each) => each.startsWith(`${path}/`))
    const names = new Set(below.map((each) => each.slice(path.length + 1).split('/')[0]))
    return names.size === 0 ? { exitCode: 2 } : { stdout: `${[...names].join('\n')}\n` }
  }
  if (program === 'rm') {
    for (const gone of rest.filter((word) => !word.startsWith('-'))) {
      for (const each of files.keys()) {
        if (each === gone || each.startsWith(`${gone}/`)) files.delete(each)
      }
    }
  }
  return undefined
}
