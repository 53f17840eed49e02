/**
 * Judges histories of clients of several masters with porcupine, as a second opinion on testing/histories. Development
 * only; needs Go and its module proxy, and to play, all that the end-to-end tests need.
 *   node dev/hack/porcupine.ts play [killed cut]      runs these tests, keeps their histories, and judges them
 *   node dev/hack/porcupine.ts judge <history.json>…  judges histories of earlier runs
 * Each history is judged once more after a read in it was made one of the past: that one must be refused.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { HistoryReport } from '../e2e/history/history-report.ts'
import { readReport } from '../e2e/history/history-report.ts'

const root = join(import.meta.dirname, '../..')
const keptDirectory = join(root, 'node_modules', '.cache', 'histories')
const playable = ['killed', 'cut'] as const

const [command, ...words] = process.argv.slice(2)
if (command === 'play') await play(words.length > 0 ? words : playable)
else if (command === 'judge' && words.length > 0) await judge(words)
else {
  console.error('Say play or judge; the first lines of dev/hack/porcupine.ts explain both')
  process.exitCode = 2
}

async function play(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !playable.some((each) => each === name))
  if (unknown.length > 0) {
    console.error(`Cannot play ${unknown.join(', ')}: the stories are ${playable.join(', ')}`)
    process.exitCode = 2
    return
  }
  await mkdir(keptDirectory, { recursive: true })
  const env = { ...process.env, SKERRY_HISTORIES: keptDirectory }
  for (const name of names) {
    const test = `masters-${name}`
    const file = join('dev', 'e2e', `${test}.test.ts`)
    const { status } = spawnSync(process.execPath, ['--test', file], {
      cwd: root,
      env,
      stdio: 'inherit',
    })
    // Its history counts all the same, if it came so far.
    if (status !== 0) process.exitCode = 1
    await judge([join(keptDirectory, `${test}.json`)])
  }
}

async function judge(paths: readonly string[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-histories-'))
  try {
    const program = join(directory, 'histories')
    const source = join(import.meta.dirname, 'porcupine')
    execFileSync('go', ['build', '-o', program, '.'], { cwd: source, stdio: 'inherit' })
    for (const path of paths) {
      const report = await readReport(path)
      const past = join(directory, `past-of-${basename(path)}`)
      await writeFile(past, JSON.stringify(withReadOfThePast(report)))
      if (!isSound(program, path)) process.exitCode = 1
      if (!isSound(program, past)) continue
      console.error(`${path}: the same history with a read of the past was not refused`)
      process.exitCode = 1
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

function isSound(program: string, path: string): boolean {
  try {
    execFileSync(program, [path], { stdio: 'inherit' })
    return true
  } catch (error) {
    // The program has said why; it ends with 1 if the history has a fault.
    if (error instanceof Error && 'status' in error && error.status === 1) return false
    throw error
  }
}

/** Makes the last read of an object one of its first version, long after that was replaced. */
function withReadOfThePast({ operations, ...report }: HistoryReport): HistoryReport {
  const versions = operations.flatMap(({ key, action }) =>
    action.kind === 'read' && action.found ? [{ key, found: action.found }] : [],
  )
  const last = operations.findLastIndex(({ key, action }) => {
    const first = versions.find((each) => each.key === key)
    if (action.kind !== 'read' || !action.found || !first) return false
    return action.found.revision > first.found.revision
  })
  const operation = operations[last]
  if (!operation) throw new Error('Cannot spoil the history: no object has two versions')
  const found = versions.find(({ key }) => key === operation.key)?.found
  const spoiled = { ...operation, action: { kind: 'read', found } } as const
  return { ...report, operations: operations.with(last, spoiled) }
}
