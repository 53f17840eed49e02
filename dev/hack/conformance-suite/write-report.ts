import { readFile, writeFile } from 'node:fs/promises'
import { arch, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { upstreamVersion } from '../upstream/build-upstream.ts'
import { apiOnlyTable } from './api-only-table.ts'
import { areaOf, conformanceTests, isPodless } from './conformance-tests.ts'
import { readLedger, type LedgerEntry } from './result-ledger.ts'

const root = join(import.meta.dirname, '../../..')

/** The reasons why a test fails or was not run, by its exact name or the start of it. */
type Reasons = Readonly<Record<string, string>>

/** Writes docs/conformance.md from the last result of every test. */
export async function writeReport(): Promise<void> {
  const tests = await conformanceTests()
  const ledger = await readLedger()
  const reasons = await readReasons()
  const parts = [
    heading(ledger, tests),
    countTable(tests, ledger),
    apiOnly(tests, ledger),
    ...listOf('Failing', failing(tests, ledger), (name) => reasonOf(reasons, name)),
    ...listOf('Not tried', untried(tests, ledger), (name) => reasonOf(reasons, name)),
  ]
  await writeFile(join(root, 'docs', 'conformance.md'), `${parts.join('\n\n')}\n`)
}

async function readReasons(): Promise<Reasons> {
  // This is a committed file of ours; a value other than text would show in the report.
  return JSON.parse(await readFile(join(import.meta.dirname, 'reasons.json'), 'utf8')) as Reasons
}

function reasonOf(reasons: Reasons, name: string): string {
  const start = Object.keys(reasons).find((key) => name.startsWith(key))
  return (start === undefined ? undefined : reasons[start]) ?? 'Not looked into yet'
}

function heading(ledger: ReadonlyMap<string, LedgerEntry>, tests: readonly string[]): string {
  const known = tests.flatMap((name) => ledger.get(name) ?? [])
  const passed = known.filter((entry) => entry.passed).length
  const days = known.map((entry) => entry.time.slice(0, 10)).toSorted()
  const runs = new Set(known.map((entry) => entry.time))
  const commits = [...new Set(known.map((entry) => entry.commit))].toSorted()
  const memory = Math.round(totalmem() / 2 ** 30)
  const machine = `${cpus().length} cores (${arch()}), ${memory} GiB and Linux ${release()}`
  return [
    '# Conformance',
    '',
    '`dev/hack/conformance` writes this page; do not edit it. The reasons are in `dev/hack/conformance-suite/reasons.json`.',
    '',
    `**${passed} of ${tests.length}** conformance tests of Kubernetes ${upstreamVersion} ${runs.size > 1 ? 'passed when each was last run' : 'pass'}.`,
    '',
    ...(runs.size > 1
      ? [
          `This is not a single run: the last results come from ${runs.size} runs, from ${days[0] ?? 'none'} to`,
          `${days.at(-1) ?? 'none'}, between which the program changed; a test that passed early was not always run again.`,
          'A failed test was run again after a fix, and one that a time limit cut was run again alone.',
          `The commits are ${commits.join(', ')}.`,
        ]
      : [
          `All results come from one run of commit ${commits[0] ?? 'none'} on ${days[0] ?? 'no day'}.`,
        ]),
    '',
    `The machine has ${machine}. A site and its nodes ran in network`,
    'namespaces of their own without a route outside, with containerd and runc of Debian 12.',
    '',
    "The images are not upstream's: they are built from Go modules and Debian packages under the names that",
    'the suite asks for. `busybox` has bash as its shell, because tests of unusual environment variable names',
    "fail with the shell of Debian's busybox. `pause` is agnhost, `nginx` is Debian's, two versions of agnhost",
    'are one build, and etcd and sample-apiserver are newer than their names suggest. kubectl is 1.35.',
  ].join('\n')
}

function countTable(tests: readonly string[], ledger: ReadonlyMap<string, LedgerEntry>): string {
  const rows = ['| Area | Tests | Pass | Fail | Not tried |', '|---|---|---|---|---|']
  const areas = [...new Set(tests.map(areaOf))].toSorted()
  for (const area of areas)
    rows.push(
      countRow(
        area,
        tests.filter((name) => areaOf(name) === area),
        ledger,
      ),
    )
  rows.push(countRow('of these: without a running pod', tests.filter(isPodless), ledger))
  rows.push(countRow('all', tests, ledger))
  return ['## Counts', '', ...rows].join('\n')
}

function countRow(
  title: string,
  tests: readonly string[],
  ledger: ReadonlyMap<string, LedgerEntry>,
): string {
  const passed = tests.filter((name) => ledger.get(name)?.passed === true).length
  const failed = failing(tests, ledger).length
  return `| ${[title, tests.length, passed, failed, tests.length - passed - failed].join(' | ')} |`
}

/** Lists the tests that check only the API, so that a passing test is not overestimated. */
function apiOnly(tests: readonly string[], ledger: ReadonlyMap<string, LedgerEntry>): string {
  const rows = apiOnlyTable.map(({ kinds, tests: starts, left }) => {
    const own = tests.filter((name) => starts.some((start) => name.startsWith(start)))
    const passed = own.filter((name) => ledger.get(name)?.passed === true)
    return `| ${kinds} | ${passed.length} of ${own.length} | ${left} |`
  })
  return [
    '## Kinds that are only stored',
    '',
    'The suite only creates, reads, writes, watches and deletes these kinds. The components that would act on',
    'them do not exist yet, or are not part of a cluster ([known limits](known-limits.md)).',
    '',
    '| Kinds | Pass | Missing |',
    '|---|---|---|',
    ...rows,
  ].join('\n')
}

function failing(tests: readonly string[], ledger: ReadonlyMap<string, LedgerEntry>): string[] {
  return tests.filter((name) => ledger.get(name)?.passed === false)
}

function untried(tests: readonly string[], ledger: ReadonlyMap<string, LedgerEntry>): string[] {
  return tests.filter((name) => !ledger.has(name))
}

function listOf(
  title: string,
  names: readonly string[],
  reason: (name: string) => string,
): string[] {
  if (names.length === 0) return []
  const rows = names.map((name) => `| ${plain(name)} | ${reason(name)} |`)
  return [[`## ${title}`, '', '| Test | Why |', '|---|---|', ...rows].join('\n')]
}

/** Removes the tags that every test has, and formats the name as code, because its brackets are not links. */
function plain(name: string): string {
  const text = name.replaceAll(/ \[(Conformance|NodeConformance)\]/g, '')
  return `\`${text.replaceAll('`', "'").replaceAll('|', String.raw`\|`)}\``
}
