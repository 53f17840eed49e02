/**
 * Breaks what the documents promise, one promise at a time, and watches the named test fail. Development only.
 *   node dev/hack/proofs.ts run [parts]      plays the mutants whose proof, file or table contains one of the parts; none means all
 *   node dev/hack/proofs.ts missing          lists documented proofs that no mutant breaks, and mutants that no longer apply
 * Mutants stand in dev/hack/proofs/*-mutants.ts. They are applied to a copy of the committed tree in a temporary directory.
 * Exit code 1: a test passed although its promise was broken, a mutant no longer applies, or a proof has none.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { documentedProofs } from '../documented-proofs.ts'
import type { Mutant } from './proofs/mutant.ts'

const root = join(import.meta.dirname, '../..')
const promising = ['docs/invariants.md', 'ARCHITECTURE.md', 'STYLE.md', 'docs/security.md']
/** A broken promise may also show as a test that never ends. */
const usualMsMax = 90_000

const [command = '', ...parts] = process.argv.slice(2)
const mutants = await readMutants()
if (command === 'run') await run()
else if (command === 'missing') listMissing()
else {
  console.error('Say run or missing; the first lines of dev/hack/proofs.ts explain both')
  process.exitCode = 2
}

interface TabledMutant extends Mutant {
  /** The file of the mutant's table. */
  readonly table: string
}

async function readMutants(): Promise<TabledMutant[]> {
  const files = globSync('dev/hack/proofs/*-mutants.ts', { cwd: root }).toSorted()
  const tables = files.map(async (file) => {
    // Each of these files exports its table by this name.
    const module = (await import(join(root, file))) as { mutants: readonly Mutant[] }
    return module.mutants.map((mutant) => ({ ...mutant, table: file }))
  })
  return (await Promise.all(tables)).flat()
}

function listMissing(): void {
  const has = new Set(mutants.map(({ proof, test }) => `${test}: ${proof}`))
  const proofs = promising.flatMap((document) =>
    documentedProofs(document, readFileSync(join(root, document), 'utf8')),
  )
  const missing = new Set(
    proofs.map(({ file, name }) => `${file}: ${name}`).filter((key) => !has.has(key)),
  )
  for (const key of missing) console.log(key)
  const stale = mutants.filter(({ file, find }) => timesIn(file, find) !== 1)
  for (const { proof, file, table } of stale) console.log(`${table}: ${proof} (not in ${file})`)
  const counts = `${missing.size} without a mutant, ${stale.length} mutants that no longer apply`
  console.log(`${proofs.length} proofs named, ${counts}`)
  process.exitCode = missing.size === 0 && stale.length === 0 ? 0 : 1
}

function timesIn(file: string, find: string): number {
  const path = join(root, file)
  return existsSync(path) ? readFileSync(path, 'utf8').split(find).length - 1 : 0
}

async function run(): Promise<void> {
  const chosen = mutants.filter(
    ({ proof, file, test, table }) =>
      parts.length === 0 ||
      parts.some((part) => `${proof} ${file} ${test} ${table}`.includes(part)),
  )
  const copy = await mkdtemp(join(tmpdir(), 'skerry-proofs-'))
  let failed = 0
  try {
    copyTree(copy)
    for (const mutant of chosen) {
      const fault = await play(mutant, copy)
      if (fault !== undefined) failed += 1
      console.log(`${fault === undefined ? '✔' : '✖'} ${mutant.proof} (${fault ?? 'seen to fail'})`)
    }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
  console.log(`${chosen.length - failed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && chosen.length > 0 ? 0 : 1
}

function copyTree(copy: string): void {
  const archive = execFileSync('git', ['archive', 'HEAD'], {
    cwd: root,
    maxBuffer: 512 * 1024 * 1024,
  })
  execFileSync('tar', ['-x', '-C', copy], { input: archive })
  // A copy whose links to the workspaces lead into the copy itself.
  execFileSync('cp', ['-a', '--link', join(root, 'node_modules'), join(copy, 'node_modules')])
}

/** Resolves undefined when the test fails with the mutant and passes without it. */
async function play(mutant: Mutant, copy: string): Promise<string | undefined> {
  const path = join(copy, mutant.file)
  const source = await readFile(path, 'utf8')
  const pieces = source.split(mutant.find)
  if (pieces.length !== 2) return `${mutant.file} has its text ${pieces.length - 1} times`
  const { proof, only, shownAs = proof } = mutant
  const alone = `${only === undefined ? '' : `${escaped(only)}.*`}${escaped(shownAs)}`
  const isAlone = (await outcome(mutant, copy, alone)) === 'passed'
  // The whole file runs if the test alone does not pass: some tests depend on those before them in their
  // file.
  const pattern = isAlone ? alone : '.'
  const whole = isAlone ? 'passed' : await outcome(mutant, copy, pattern)
  if (whole !== 'passed') return `without the mutant the test ${whole}`
  const brokenPath = mutant.movedTo === undefined ? path : join(copy, mutant.movedTo)
  try {
    await rm(path)
    await writeFile(brokenPath, pieces.join(mutant.replace))
    const broken = await outcome(mutant, copy, pattern)
    return broken === 'failed' ? undefined : `with the mutant the test ${broken}`
  } finally {
    await rm(brokenPath)
    await writeFile(path, source)
  }
}

type Outcome = 'passed' | 'failed' | 'failed for another proof' | 'was not found'

async function outcome(
  { test, proof, runBy = test, shownAs = proof, msMax = usualMsMax }: Mutant,
  cwd: string,
  pattern: string,
): Promise<Outcome> {
  const args = ['--test', '--test-reporter=tap', `--test-name-pattern=${pattern}`, runBy]
  // The child leads its own process group: the test's process may hang and not the runner that started it.
  const child = spawn(process.execPath, args, {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, msMax)
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')])
  clearTimeout(timer)
  const lines = stdout
    .replaceAll('’', "'")
    .split('\n')
    .filter((line) => line.includes(tapText(shownAs)))
  if (isOver) return 'failed'
  if (lines.some((line) => /^\s*not ok /.test(line))) {
    // The output of a process of its own names the tests that failed in it.
    const isShown = shownAs === proof || stdout.replaceAll('’', "'").includes(`✖ ${proof}`)
    return isShown ? 'failed' : 'failed for another proof'
  }
  const isGood = lines.some((line) => /^\s*ok /.test(line) && !line.includes('# SKIP'))
  return isGood ? 'passed' : 'was not found'
}

/** Escapes backslashes and hashes as TAP does in names. */
function tapText(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('#', '\\#')
}

/** Returns a pattern that also matches the other apostrophe, which documents may print. */
function escaped(name: string): string {
  return name.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll("'", "['’]")
}
