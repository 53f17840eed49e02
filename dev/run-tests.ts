import { execFile, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { TestRequest } from '../cmd/commands/developer-commands.ts'
import type { ProgramUser } from '../roles/up/programs-table.ts'
import { findMissingPrograms, installPrograms, packagesOf } from '../roles/up/system-packages.ts'
import { groupTests, isQuick, orderStories, writeGroup } from './test-groups.ts'

interface Check {
  name: string
  command: readonly string[]
}

const root = join(import.meta.dirname, '..')
const bin = (name: string): string => join(root, 'node_modules', '.bin', name)

/** Tests the tree: types, lint, format, then every test. Resolves the process's exit code. */
export async function runTests(options: TestRequest): Promise<number> {
  const files = filesOf(options)
  await ensurePrograms(files, options)
  const totals = { passed: 0, failed: 0 }
  if (options.only.length === 0) {
    for (const check of checks()) {
      const isGood = await runCheck(check)
      totals[isGood ? 'passed' : 'failed'] += 1
    }
  }
  await runTestFiles(files, totals)
  console.log(`${totals.passed} passed, ${totals.failed} failed`)
  return totals.failed === 0 && totals.passed > 0 ? 0 : 1
}

const isRoot = process.getuid?.() === 0
const isEndToEnd = (file: string): boolean => file.startsWith(join(root, 'dev/e2e'))
/** The slow ones: end to end, recorded answers of upstream, and builds of the program. */
const isOfDeveloper = (file: string): boolean => file.startsWith(join(root, 'dev'))

/** Installs the programs that the tests execute, so that no test is skipped for the lack of one. */
async function ensurePrograms(
  files: readonly string[],
  { skipsInstall }: TestRequest,
): Promise<void> {
  const users: ProgramUser[] = ['node', 'tests']
  if (files.some(isEndToEnd)) users.push('end-to-end tests')
  const found = await findMissingPrograms(users)
  // Other users than root skip the tests that need the remaining programs.
  const missing = isRoot ? found : found.filter(({ isForUsers }) => isForUsers === true)
  if (missing.length === 0) return
  const packages = packagesOf(missing).join(' ')
  if (skipsInstall) {
    console.log(`Tests that need these system packages fail: ${packages}`)
  } else if (isRoot) {
    console.log(`Installing system packages: ${packages}`)
    await installPrograms(missing, AbortSignal.timeout(installMsMax))
  } else {
    throw new ExpectedError(
      `Cannot test: system packages are missing; run "apt-get install ${packages}" as root, or pass --no-install`,
      exitCodes.missingDependency,
    )
  }
}

/** The maximum time of an installation, for slow mirrors; apt itself reports one that does not answer. */
const installMsMax = 1_800_000

function checks(): Check[] {
  return [
    { name: 'types', command: [bin('tsc'), '--project', root] },
    { name: 'types of the console', command: [bin('tsc'), '--project', join(root, 'console')] },
    { name: 'lint', command: [bin('oxlint'), '--type-aware', '--quiet', root] },
    { name: 'format', command: [bin('oxfmt'), '--check', root] },
  ]
}

async function runCheck(check: Check): Promise<boolean> {
  const startMs = performance.now()
  const [command = '', ...args] = check.command
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('error', reject)
    child.on('exit', resolve)
  })
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  console.log(`${code === 0 ? '✔' : '✖'} ${check.name} (${seconds} s)`)
  return code === 0
}

function filesOf(options: TestRequest): string[] {
  // Folders with the longest files come first, so that none of these is left over at the end.
  const folders = ['dev', 'roles', 'packages', 'cmd', 'console', 'testing']
  const patterns = ['*.test.ts', ...folders.map((folder) => `${folder}/**/*.test.ts`)]
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((file) => !file.includes('node_modules'))
    .filter((file) => options.only.length === 0 || options.only.some((part) => file.includes(part)))
    .map((file) => join(root, file))
    .filter((file) => !options.isQuick || (!isOfDeveloper(file) && isQuick(file, root)))
}

/**
 * Runs end-to-end files last, so that a mistake that a small test finds is seen first. Files have hosts, directories
 * and ports of their own. They wait half of their time, so several run at once on two processors: three, and one that
 * nearly only waits.
 */
async function runTestFiles(files: readonly string[], totals: Totals): Promise<void> {
  const small = files.filter((file) => !isEndToEnd(file))
  const directory = await mkdtemp(join(await parentOfTemporary(), 'skerry-tests-'))
  try {
    const groups = groupTests(small, root)
    const paths = groups.map((group, index) => writeGroup(group, directory, index))
    const names = new Map(paths.map((path, index) => [path, groups[index]?.name ?? path]))
    const execArgv = [youngGeneration]
    const plan = { concurrency: 4, totals, names, temporary: directory, execArgv }
    printSlowest(await runGroup(paths, plan))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  const { waiting, others } = orderStories(files.filter(isEndToEnd))
  if (waiting.length + others.length === 0) return
  const environment = { SKERRY_TEST_PROGRAM: await buildProgram() }
  const tookMs = await Promise.all([
    runGroup(waiting, { concurrency: 1, totals, environment }),
    runGroup(others, { concurrency: 3, totals, environment }),
  ])
  printSlowest(new Map(tookMs.flatMap((took) => [...took])))
}

/** MiB for new objects: starting and stopping servers takes a tenth less of the processor than with the default of 16. */
const youngGeneration = '--max-semi-space-size=32'

/** Has the launcher build the bundle if it is older than the sources, and returns its entry. */
async function buildProgram(): Promise<string> {
  const { stderr } = await promisify(execFile)(join(root, 'skerry'), ['--version'])
  if (stderr !== '') throw new Error(`Cannot build the program: ${stderr}`)
  return join(root, 'node_modules', '.cache', 'bundle', 'skerry.mjs')
}

/**
 * Returns the directory for the files of small tests: memory if it has room, because they would wait for the disk half of
 * their time. Their crashes and power cuts happen on simulated disks, where the order of writes counts.
 */
async function parentOfTemporary(): Promise<string> {
  const { bavail, bsize } = await statfs(memoryDirectory)
  return Math.min(bavail * bsize, freemem()) > memoryBytesMin ? memoryDirectory : tmpdir()
}

const memoryDirectory = '/dev/shm'
/** Small tests write at most about 1 GB at a time. */
const memoryBytesMin = 4 * 2 ** 30

interface Totals {
  passed: number
  failed: number
}

/** A file that takes longer hangs; the slowest end-to-end file takes a few minutes. */
const fileMsMax = 600_000
/** The number of files that are named as slow. */
const slowFiles = 10

interface GroupRun {
  readonly concurrency: number
  readonly totals: Totals
  /** The names of the files that import others, by path; if omitted, each file is named by its path. */
  readonly names?: ReadonlyMap<string, string>
  /** The parent of the files' temporary directories; if omitted, the system's. */
  readonly temporary?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly execArgv?: readonly string[]
}

/** Runs `files`, and returns the milliseconds that each took, by its name. */
async function runGroup(
  files: readonly string[],
  { concurrency, totals, names, temporary = tmpdir(), environment = {}, execArgv = [] }: GroupRun,
): Promise<ReadonlyMap<string, number>> {
  const tookMs = new Map<string, number>()
  if (files.length === 0) return tookMs
  const env = { ...process.env, ...environment, TMPDIR: temporary, SKERRY_TEST_KEPT: tmpdir() }
  const stream = run({ files: [...files], concurrency, timeout: fileMsMax, env, execArgv })
  const skipped: string[] = []
  stream.on('test:pass', ({ name, skip }) => {
    if (skip !== undefined) skipped.push(`${name}: ${String(skip)}`)
  })
  stream.on('test:summary', (summary) => {
    if (summary.file !== undefined) {
      tookMs.set(relative(root, names?.get(summary.file) ?? summary.file), summary.duration_ms)
      return
    }
    totals.passed += summary.counts.passed
    totals.failed +=
      summary.counts.tests - summary.counts.passed - summary.counts.skipped - summary.counts.todo
    if (!summary.success && totals.failed === 0) totals.failed += 1
  })
  for await (const chunk of stream.compose(spec)) process.stdout.write(chunk)
  if (!isRoot) return tookMs
  // Skips count as failures for root, which can install all that a test needs.
  for (const each of skipped) console.log(`✖ skipped: ${each}`)
  totals.failed += skipped.length
  return tookMs
}

function printSlowest(tookMs: ReadonlyMap<string, number>): void {
  if (tookMs.size === 0) return
  const slowest = [...tookMs].sort(([, a], [, b]) => b - a).slice(0, slowFiles)
  console.log('Slowest files:')
  for (const [file, ms] of slowest) console.log(`${(ms / 1_000).toFixed(1).padStart(7)} s ${file}`)
}
