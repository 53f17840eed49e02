import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runIn } from '../clients/client-plan.ts'
import type { Verdict } from './verdict.ts'

export interface GoTests {
  /** A program that `go test -c` has built. */
  readonly program: string
  readonly args: readonly string[]
  /** Where the tests find their files. */
  readonly directory: string
  readonly env?: Record<string, string>
  /** The directory in which they make theirs. Default: that of this machine. */
  readonly temporary?: string
}

const runMsMax = 3_600_000

/** Runs all tests of a program in one process. Subtests count, and not what contains them. */
export async function runGoTests(tests: GoTests): Promise<Verdict> {
  const { program, args, directory, env = {} } = tests
  const temporary = await mkdtemp(join(tests.temporary ?? tmpdir(), 'skerry-etcd-judge-'))
  try {
    const command = [program, '-test.v', '-test.timeout=60m', ...args]
    const own = { ...env, TMPDIR: temporary }
    const result = await runIn(command, { directory, env: own, timeoutMs: runMsMax })
    const verdict = readResults(result.stdout)
    if (result.exitCode !== 0 && verdict.failed.length === 0) {
      const text = `${result.stderr}${result.stdout}`.slice(-2_000)
      return { ...verdict, failed: [`exit code ${result.exitCode}: ${text}`] }
    }
    if (verdict.failed.length > 0) console.error(result.stdout)
    return verdict
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Runs each test in a process of its own: some leave things behind that make later ones be skipped. */
export async function runEachGoTest(
  tests: GoTests,
  isExcused: (name: string) => boolean,
): Promise<Verdict> {
  const { program, args, directory } = tests
  const listed = await runIn([program, '-test.list', '.'], { directory })
  const names = listed.stdout
    .split('\n')
    .filter((name) => name.startsWith('Test') && !isExcused(name))
  const failed: string[] = []
  let passed = 0
  for (const name of names) {
    const verdict = await runGoTests({ ...tests, args: [...args, `-test.run=^${name}$`] })
    failed.push(...verdict.failed)
    const state = stateOf(verdict)
    if (state === 'pass') passed += 1
    console.log(`${state} ${name}`)
  }
  return { passed, failed }
}

/** Upstream skips some tests itself. */
function stateOf({ passed, failed }: Verdict): 'FAIL' | 'pass' | 'skip' {
  if (failed.length > 0) return 'FAIL'
  return passed > 0 ? 'pass' : 'skip'
}

function readResults(output: string): Verdict {
  const results = [...output.matchAll(/^ *--- (PASS|FAIL): (\S+)/gm)].map(([, state, name]) => ({
    isPassed: state === 'PASS',
    name: name ?? '',
  }))
  const isContainer = (name: string): boolean =>
    results.some((other) => other.name.startsWith(`${name}/`))
  const leaves = results.filter(({ name, isPassed }) => !isPassed || !isContainer(name))
  return {
    passed: leaves.filter(({ isPassed }) => isPassed).length,
    failed: leaves.filter(({ isPassed }) => !isPassed).map(({ name }) => name),
  }
}
